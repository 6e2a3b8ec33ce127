// Saved storages of an account, and their use in jobs. They are rows of templates whose names start with `storage/`:
// templates cannot have such names (decision 49).
import { AppError, type Failure } from "#shared/errors.ts";
import { excerpt } from "#shared/excerpt.ts";
import { isObject } from "#shared/request/parse-section.ts";
import { isTooDeep, mergePatch } from "#shared/template/merge-patch.ts";
import { TEMPLATE_NAME, type TemplateBody } from "#shared/template/template-body.ts";
import { sectionFor } from "#shared/template/template-secrets.ts";
import { findTemplate, STORAGE_PREFIX, type TemplateRow } from "../../../db/templates.ts";
import { type JobBody, type Owner, openTemplate } from "./job-template.ts";

/** The row of a saved storage. Throws AppError(saved_storage_not_found). */
export async function findStorage({ env, account }: Owner, name: string): Promise<TemplateRow> {
  const wanted = { name: STORAGE_PREFIX + name, version: null };
  const row = TEMPLATE_NAME.test(name) ? await findTemplate(env.DB, account.id, wanted) : null;
  if (row) return row;
  throw new AppError("saved_storage_not_found", `The account has no saved storage \`${excerpt(name)}\``);
}

/** Saved storages that a request has opened: the jobs of a batch share them. */
const OPENED = new WeakMap<Owner, Map<string, Promise<TemplateBody>>>();

function openStorage(owner: Owner, name: string): Promise<TemplateBody> {
  const opened = OPENED.get(owner) ?? new Map<string, Promise<TemplateBody>>();
  OPENED.set(owner, opened);
  const saved =
    opened.get(name) ?? findStorage(owner, name).then(async (row) => (await openTemplate(owner.env, row)).body);
  opened.set(name, saved);
  return saved;
}

/**
 * The body of a job with its saved storage in place of `storage.use`. The other fields of the section are merged over
 * it. Its secrets follow only to the same service, bucket and host. Throws AppError(storage_not_valid |
 * saved_storage_*).
 */
export async function withSavedStorage(owner: Owner, job: JobBody): Promise<JobBody> {
  const { body, explain } = job;
  if (!isObject(body) || !isObject(body.storage) || body.storage.use === undefined) return job;
  const { use, ...changes } = body.storage;
  if (typeof use !== "string") {
    throw new AppError("storage_not_valid", "`storage.use` must be the name of a saved storage");
  }
  if (isTooDeep(changes)) throw new AppError("json_not_valid", "`storage` is nested too deeply");
  const { section, moved } = sectionFor(await openStorage(owner, use), changes);
  const note = moved === null ? "" : `; its secrets are not used, because the request changes \`storage.${moved}\``;
  const inStorage = ({ code, message }: Failure): Failure => ({
    code,
    message: code.startsWith("storage_") ? `${message} (saved storage \`${use}\`${note})` : message,
  });
  const storage = mergePatch(section, changes);
  return { ...job, body: { ...body, storage }, explain: (failure) => explain(inStorage(failure)) };
}
