// Invariants at the end of each run, whatever happened (docs/promises.md). They are checked by the API, as clients do,
// and at the storage.
import type { NotificationLog } from "#shared/api/job-responses.ts";
import { parseLeaseId } from "#shared/ids.ts";
import type { JobView } from "#shared/job/job-view.ts";
import { STORAGE_HOST } from "../platform/internet.ts";
import type { Accepted, SimulatedRun } from "./simulated-run.ts";

const FINAL = ["job.completed", "job.failed"];

/** Returns the violated invariants. */
export async function violationsOf(run: SimulatedRun): Promise<string[]> {
  const violations: string[] = [];
  for (const job of run.jobs) {
    const ofJob = await violationsOfJob(run, job);
    violations.push(...ofJob.map((each) => `${job.id} (${job.kind}): ${each}`));
  }
  const { objects, uploads } = run.service.platform.internet;
  for (const url of objects.keys()) if (url.includes("/copra-scratch/")) violations.push(`${url} is left in scratch`);
  for (const { url, isKnown } of uploads.values()) {
    if (isKnown || run.faults === 0) violations.push(`The multipart upload ${url} is left`);
  }
  violations.push(...run.service.platform.subrequests.overBudget);
  for (const node of run.nodes) if (node.isBusy) violations.push(`${node.nodeId} still works`);
  return violations;
}

async function violationsOfJob(run: SimulatedRun, job: Accepted): Promise<string[]> {
  const view = (await run.service.get(job.apiKey, `/jobs/${job.id}`)) as JobView;
  if (!view.completed_at) return [`it has not ended: ${JSON.stringify(view)}`];
  const mayEnd = [...job.endings, ...(run.hasLostFetches ? ["job.failed"] : [])];
  return [
    ...(mayEnd.includes(view.status) ? [] : [`it has ended as ${view.status}: ${JSON.stringify(view)}`]),
    ...(await wrongNotifications(run, job, view)),
    ...repeatedTasks(run, job),
    ...wrongObjects(run, job, view),
  ];
}

/** Each event is recorded once and delivered under its id, and a single event ends the job. */
async function wrongNotifications(run: SimulatedRun, { id, apiKey }: Accepted, { status }: JobView): Promise<string[]> {
  const log = (await run.service.get(apiKey, `/jobs/${id}/notifications`)) as NotificationLog;
  const received = run.webhooks.filter(({ body }) => body.includes(`"job_id":"${id}"`));
  const bodies = new Map<string, Set<string>>();
  for (const each of received) bodies.set(each.id, (bodies.get(each.id) ?? new Set()).add(each.body));
  const wrong = log.notifications.flatMap((each) => {
    if (each.status !== "delivered") return [`the event ${each.event} is ${each.status}`];
    const count = bodies.get(each.id)?.size ?? 0;
    return count === 1 ? [] : [`the event ${each.event} has arrived with ${count} bodies`];
  });
  const known = new Set(log.notifications.map((each) => each.id));
  const unknown = [...bodies.keys()].filter((each) => !known.has(each));
  const final = log.notifications.map(({ event }) => event).filter((event) => FINAL.includes(event));
  const expected = FINAL.filter((event) => event === status);
  return [
    ...wrong,
    ...(known.size === log.notifications.length ? [] : ["two events have the same id"]),
    ...(unknown.length === 0 ? [] : ["an event has arrived that the job does not list"]),
    ...(String(final) === String(expected) ? [] : [`its last events are ${final.join(", ") || "missing"}`]),
  ];
}

/** A task whose result was accepted is never done again. */
function repeatedTasks(run: SimulatedRun, { id }: Accepted): string[] {
  const done = (run.results.get(id) ?? []).map(({ task, attempt }) => [task, attempt] as const);
  return [...new Set(done.map(([task]) => task))].flatMap((task) => {
    const attempts = new Set(done.filter(([name]) => name === task).map(([, attempt]) => attempt));
    return attempts.size === 1 ? [] : [`${task} was done in the attempts ${[...attempts].join(", ")}`];
  });
}

/** All files of a finished output are stored, and come from a single lease. */
function wrongObjects(run: SimulatedRun, job: Accepted, view: JobView): string[] {
  const { objects } = run.service.platform.internet;
  return Object.values(view.outputs).flatMap((output, index): string[] => {
    if (output.url === undefined && output.urls === undefined) return [];
    const folder = `https://results.${STORAGE_HOST}/${job.folder}/${index}/`;
    const stored = [...objects].filter(([url]) => url.startsWith(folder));
    const leases = new Set(stored.filter(([url]) => !isSegment(url)).map(([, { lease }]) => lease));
    const [lease = ""] = leases;
    if (leases.size !== 1) return [`output ${index} has files of ${leases.size} leases: ${[...leases].join(", ")}`];
    if (parseLeaseId(lease)?.job !== job.id) return [`output ${index} has files of ${lease}`];
    const segments = stored.filter(([url, object]) => isSegment(url) && object.lease === lease);
    const wanted = job.segments[index] ?? 0;
    return segments.length === wanted ? [] : [`output ${index} has ${segments.length} of ${wanted} segments`];
  });
}

/** True for segments: those from lost attempts stay, in separate folders. */
const isSegment = (url: string): boolean => url.endsWith(".ts");
