// Creates jobs for events of buckets, with the template of the URL's token.
import type { IngestResult } from "#shared/api/templates.ts";
import { AppError, errorTraits } from "#shared/errors.ts";
import { isObject } from "#shared/request/parse-section.ts";
import { type BucketEvent, eventVars, isWanted, MAX_EVENTS, readEvents } from "#shared/template/bucket-events.ts";
import type { Template } from "#shared/template/expand-template.ts";
import { usesOf } from "#shared/template/variables.ts";
import { hex } from "../../crypto/bytes.ts";
import { purposeDigest } from "../../crypto/session.ts";
import { createJobs, type NewRequest, readRequest } from "../jobs/create/create-job.ts";
import { findOwnTemplate } from "../jobs/create/job-template.ts";
import { type JobCreator, ownKey, settle } from "../jobs/create/new-job.ts";
import { failureOfOne } from "../jobs/job-actions.ts";
import { refuseLoop } from "./ingest-loops.ts";

/** A token has 166 random bits, so no slow hash is needed. */
export const tokenDigest = (token: string): Promise<string> => purposeDigest("ingest token", token);

/**
 * Creates a job for each created object that the template wants, once for each version of the object. Throws the first
 * error that a later delivery may not have, so that the service delivers again; else the first other error.
 */
export async function ingestEvents(creator: JobCreator, name: string, body: unknown): Promise<IngestResult> {
  const events = readEvents(body);
  if (events === null) throw new AppError("event_not_valid", "The body has no event of a known object storage");
  if (events.count > MAX_EVENTS) throw new AppError("event_not_valid", `A request may have ${MAX_EVENTS} events`);
  requireShare(creator.account.id, events.count, Date.now());
  const template = await findOwnTemplate(creator, name);
  const wanted = events.created.filter(({ key }) => isWanted(key, template.body.ingest));
  const read = await Promise.all(wanted.map((event) => settle(requestOf(creator, template, event))));
  const valid = read.flatMap((request) => (request.ok ? request.value : []));
  const created = [...(await createJobs(creator, valid)).values()];
  const errors = [...read, ...created].flatMap((result) => (result.ok ? [] : [failureOfOne(result.error)]));
  const error = errors.find(({ code }) => isTemporary(code)) ?? errors[0];
  if (error) throw AppError.from(error);
  const jobs = created.flatMap((job) => (job.ok ? job.value.id : []));
  return { jobs, ignored: events.count - wanted.length };
}

/** Events of an account that an isolate takes in a second: other accounts need its time, too. */
const MAX_A_SECOND = 200;
let taken = { second: 0, byAccount: new Map<string, number>() };

/** Throws AppError(rate_limited) beyond the account's share. */
function requireShare(account: string, count: number, now: number): void {
  const second = Math.floor(now / 1000);
  if (taken.second !== second) taken = { second, byAccount: new Map() };
  const sum = (taken.byAccount.get(account) ?? 0) + count;
  if (sum > MAX_A_SECOND) {
    throw new AppError(
      "rate_limited",
      `An account may deliver ${MAX_A_SECOND} bucket events a second; try again later`,
    );
  }
  taken.byAccount.set(account, sum);
}

const isTemporary = (code: AppError["code"]): boolean => (errorTraits(code).http ?? 0) >= 429;

/** The request of an event. The same version of an object has the same key and body, so that it becomes one job. */
async function requestOf(creator: JobCreator, template: Template, event: BucketEvent): Promise<NewRequest> {
  const { name } = template;
  const identity = new TextEncoder().encode(JSON.stringify([name, event.bucket, event.key, event.version]));
  const key = ownKey("ingest", hex(await crypto.subtle.digest("SHA-256", identity)));
  const used = new Set(usesOf(template.body).map((use) => use.name));
  const vars = Object.fromEntries(Object.entries(eventVars(event)).filter(([name]) => used.has(name)));
  const find = async (): Promise<Template> => withObject(template, event);
  const request = await readRequest(creator, { template: name, vars }, find);
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
    const mismatch = `the template is for the ${field} \`${String(input[field])}\``;
    throw new AppError("event_not_valid", `The event is of another ${field}: ${mismatch}`);
  }
  return { ...template, body: { ...template.body, input: { ...input, [field]: bucket, key } } };
}
