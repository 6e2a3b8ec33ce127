// /v2/storages: storages that are kept under a name.

import type { Context } from "hono";
import type { SavedStorage, SavedStorageList, StorageTest } from "#shared/api/storages.ts";
import { AppError, type Failure } from "#shared/errors.ts";
import { contractDate } from "#shared/job/job-view.ts";
import { fieldOf } from "#shared/request/parse-section.ts";
import { parseStorage } from "#shared/request/storage/storage-section.ts";
import { MAX_TEMPLATE_BYTES, TEMPLATE_NAME, type TemplateBody } from "#shared/template/template-body.ts";
import { hideSecrets } from "#shared/template/template-secrets.ts";
import {
  deleteTemplate,
  insertTemplate,
  listTemplates,
  MAX_TEMPLATES,
  STORAGE_PREFIX,
  type TemplateRow,
} from "../../db/templates.ts";
import { settingsOf } from "../../settings.ts";
import { resolveStorage } from "../../storage/resolve-storage.ts";
import { tryStorage } from "../../storage/try-storage.ts";
import type { ClientEnv } from "../auth/auth.ts";
import { parseJson, readBytes } from "../body/read-body.ts";
import { openTemplate, sealTemplate } from "../jobs/create/job-template.ts";
import { creatorOf } from "../jobs/create/new-job.ts";
import { findStorage, withSavedStorage } from "../jobs/create/saved-storage.ts";
import { mount } from "../operation/mount.ts";
import { jsonResponse } from "../responses/json-response.ts";
import { SAVED_STORAGE_OPERATIONS } from "./storages.operations.ts";

type Named = Context<ClientEnv, "/:name">;

export const storages = mount(SAVED_STORAGE_OPERATIONS, {
  listStorages: async (context) => {
    const rows = await listTemplates(context.env.DB, context.get("account").id, "storages");
    return jsonResponse(context, { storages: rows.map(viewSummary) } satisfies SavedStorageList);
  },
  getStorage: async (context) => {
    const row = await ownStorage(context);
    return jsonResponse(context, viewStorage(row, (await openTemplate(context.env, row)).body));
  },
  putStorage: put,
  deleteStorage: async (context) => {
    const row = await ownStorage(context);
    const { body } = await openTemplate(context.env, row);
    await deleteTemplate(context.env.DB, row.accountId, row.name, null);
    return jsonResponse(context, viewStorage(row, body));
  },
  testStorage: async (context) => {
    const { body } = await openTemplate(context.env, await ownStorage(context));
    const { storage, keys } = parsed(context, body);
    const creator = creatorOf(context);
    const resolved = await resolveStorage(storage, { ...creator, keys });
    const result = await tryStorage(resolved, keys, creator);
    return jsonResponse(context, result satisfies StorageTest);
  },
});

async function put(context: Named): Promise<Response> {
  const { env } = context;
  const name = context.req.param("name");
  if (!TEMPLATE_NAME.test(name)) {
    const rule = "must have 1 to 64 letters, digits, `_`, `.` and `-`, and start with a letter or digit";
    throw new AppError("storage_not_valid", `The name of a storage ${rule}`);
  }
  const account = context.get("account");
  const storage = parseJson(await readBytes(context.req, MAX_TEMPLATE_BYTES));
  const job = await withSavedStorage({ env, account }, { body: { storage }, template: {}, explain: (error) => error });
  const { storage: body } = job.body as { storage: TemplateBody };
  parsed(context, body, job.explain);
  const templateName = STORAGE_PREFIX + name;
  const row = {
    accountId: account.id,
    name: templateName,
    createdAt: Date.now(),
    contents: null,
    sealed: await sealTemplate({ env, account }, templateName, body),
  };
  const version = await insertTemplate(env.DB, row, null, 1);
  if (version !== null) return jsonResponse(context, viewStorage(row, body), version === 1 ? 201 : 200);
  const rule = `The account may have ${MAX_TEMPLATES} saved storages; delete some`;
  throw new AppError("too_many_templates", rule);
}

/** Validates a storage. Throws AppError(storage_*). */
function parsed(context: Named, body: unknown, explain = (error: Failure): Failure => error) {
  const storage = parseStorage(body, settingsOf(context.env).allowPrivate);
  if (!storage.ok) throw AppError.from(explain(storage.error));
  return storage.value;
}

const ownStorage = (context: Named): Promise<TemplateRow> =>
  findStorage({ env: context.env, account: context.get("account") }, context.req.param("name"));

const viewSummary = ({ name, createdAt }: Pick<TemplateRow, "name" | "createdAt">) => ({
  name: name.slice(STORAGE_PREFIX.length),
  created_at: contractDate(createdAt),
});

function viewStorage(row: Pick<TemplateRow, "name" | "createdAt">, body: TemplateBody): SavedStorage {
  const { value, leftOut } = hideSecrets(body);
  const storage = value as SavedStorage["storage"];
  return { ...viewSummary(row), storage, left_out: leftOut.map((path) => fieldOf("storage", path)) };
}
