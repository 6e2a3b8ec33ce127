// Creates jobs for events of buckets, with the template of the URL's token.
import type { IngestResult } from "#shared/api/templates.ts";
import { AppError, errorTraits } from "#shared/errors.ts";
import { joinPath, objectName } from "#shared/job/object-name.ts";
import type { InputSpec } from "#shared/request/input-section.ts";
import { writtenBy } from "#shared/request/outputs/output-objects.ts";
import { isObject } from "#shared/request/parse-section.ts";
import type { StorageSpec } from "#shared/request/storage/storage-spec.ts";
import { shown } from "#shared/shown.ts";
import { type BucketEvent, eventVars, isWanted, readEvents } from "#shared/template/bucket-events.ts";
import type { Template } from "#shared/template/expand-template.ts";
import { usesOf } from "#shared/template/variables.ts";
import { hex } from "../crypto/bytes.ts";
import { purposeDigest } from "../crypto/session.ts";
import { createJobs, type NewRequest, readRequest } from "./create-job.ts";
import { failureOfOne } from "./job-actions.ts";
import { findOwnTemplate } from "./job-template.ts";
import { type JobCreator, resultOf } from "./new-job.ts";

/** A token has 166 random bits, so its digest needs no pepper. */
export const tokenDigest = (token: string): Promise<string> => purposeDigest("ingest token", token);

/** Services send up to ten events in a request; forwarders of queues a hundred. */
const MAX_EVENTS = 100;

/**
 * Creates a job for each created object that the template wants, once for each version of the object. Throws the first
 * error that a later delivery may not have, so that the service delivers again; else the first other error.
 */
export async function ingestEvents(creator: JobCreator, name: string, body: unknown): Promise<IngestResult> {
  const events = readEvents(body);
  if (events === null) throw new AppError("event_not_valid", "The body is no event of a known object storage");
  if (events.length > MAX_EVENTS) throw new AppError("event_not_valid", `A request may have ${MAX_EVENTS} events`);
  const newest = await findOwnTemplate(creator, name);
  const wanted = events.filter((event) => isWanted(event.key, newest.body.ingest));
  const read = await Promise.all(wanted.map((event) => resultOf(requestOf(creator, name, event))));
  const valid = read.flatMap((request) => (request.ok ? request.value : []));
  const created = await createJobs(creator, valid);
  const errors = [...read, ...created].flatMap((one) => (one.ok ? [] : [failureOfOne(one.error)]));
  const error = errors.find(({ code }) => isTemporary(code)) ?? errors[0];
  if (error) throw AppError.from(error);
  const jobs = created.flatMap((job) => (job.ok ? job.value.id : []));
  return { jobs, ignored: events.length - wanted.length };
}

const isTemporary = (code: AppError["code"]): boolean => (errorTraits(code).http ?? 0) >= 429;

/** The request of an event. The same version of an object has the same key and body, and the template of then. */
async function requestOf(creator: JobCreator, name: string, event: BucketEvent): Promise<NewRequest> {
  const identity = new TextEncoder().encode(JSON.stringify([name, event.bucket, event.key, event.version]));
  const key = `ingest/${hex(await crypto.subtle.digest("SHA-256", identity))}`;
  const template = withObject(await findOwnTemplate(creator, name, key), event);
  const used = new Set(usesOf(template.body).map((use) => use.name));
  const vars = Object.fromEntries(Object.entries(eventVars(event)).filter(([name]) => used.has(name)));
  const request = await readRequest(creator, { template: name, vars }, key, async () => template);
  refuseLoop(request, template.body.ingest);
  return { request, body: identity, key, trace: null };
}

/**
 * The template with the object of the event as its input, read with the credentials of the template. Other inputs, such
 * as a URL with variables, stay as they are.
 */
function withObject(template: Template, { bucket, key }: BucketEvent): Template {
  const { input } = template.body;
  if (!isObject(input) || input.service === undefined) return template;
  const field = input.service === "azure" ? "container" : "bucket";
  if (input[field] !== undefined && input[field] !== bucket) {
    const own = `the template is for the ${field} \`${String(input[field])}\``;
    throw new AppError("event_not_valid", `The event is of another ${field}: ${own}`);
  }
  return { ...template, body: { ...template.body, input: { ...input, [field]: bucket, key } } };
}

/** Throws AppError(event_not_valid) if an output's own event would pass the filters: each job would start the next. */
function refuseLoop({ input, storage, outputs }: NewRequest["request"], ingest: unknown): void {
  const folder = folderInBucket(input, storage);
  if (folder === null) return;
  const keys = outputs.flatMap(writtenBy).map(({ path }) => joinPath(folder, objectName(path, 1)));
  const again = keys.find((key) => isWanted(key, ingest));
  if (again === undefined) return;
  const change = "change its path, or `ingest` of the template";
  throw new AppError("event_not_valid", `The output \`${shown(again)}\` would start another job: ${change}`);
}

/** The storage's folder in the bucket of the input; null if the storage is elsewhere. */
function folderInBucket(input: InputSpec, storage: StorageSpec): string | null {
  if (storage.kind === "s3" && input.kind === "bucket") {
    return input.endpoint === storage.endpoint && input.bucket === storage.bucket ? storage.path : null;
  }
  if (storage.kind === "azure" && input.kind === "azure") {
    return input.endpoint === storage.endpoint && input.container === storage.container ? storage.path : null;
  }
  return null;
}
