// Evaluates the conditions of alerts. A condition holds for subjects: nodes, pools, or all jobs together.
import * as z from "zod";
import type { AlertBody } from "#shared/api/alerts.ts";
import type { Env } from "../../bindings.ts";
import { countEnded, findFailed } from "../../db/alerts.ts";
import { Message } from "../../notify/outbox.ts";
import { settingsOf } from "../../settings.ts";
import type { FleetReports } from "./fleet-reports.ts";

const MINUTE_MS = 60_000;
/** A node that returns within this time, as after an update, is not lost. */
const LOST_AFTER_MS = MINUTE_MS;
/** Rows of jobs may be written this much later than the jobs end. */
const LATE_MS = 10 * MINUTE_MS;
/** Failed jobs that a message lists. */
const MAX_LISTED = 10;

/** Times in ms since 1970. */
export const AlertState = z.object({
  /** Failed jobs that ended earlier are not reported. */
  since: z.number(),
  /** The newest failed jobs after `since` that were reported, each with the time of its end. */
  reported: z.array(z.string()).default([]),
  /** The number of all reported jobs after `since`, by the minute of their end. */
  counts: z.record(z.string(), z.int()).default({}),
  /** Subjects for which the condition holds, each with a sentence. */
  active: z.record(z.string(), z.string()).default({}),
  /** Creation of the newest message; 0: none. */
  messageAt: z.number().default(0),
  /** The message that is not delivered yet. The condition is not evaluated meanwhile. */
  message: Message.nullable().default(null),
  sentAt: z.number().nullable().default(null),
  error: z.string().nullable().default(null),
});
export type AlertState = z.infer<typeof AlertState>;

/** Changes since the last evaluation, as sentences. `count`: the number of failed jobs. */
export type Changes = { readonly firing: string[]; readonly resolved: string[]; readonly count?: number };

/** Where rules find their subjects. */
type Sources = { readonly env: Env; readonly fleet: FleetReports };

/** Returns the changes of the state, and the changes to report. */
export async function evaluateRule(
  { env, fleet }: Sources,
  rule: AlertBody,
  state: AlertState,
  now: number,
): Promise<[Partial<AlertState>, Changes]> {
  if (rule.when === "job.failed") return newFailures(env, rule, state, now);
  const active = Object.fromEntries(await holding({ env, fleet }, rule, state, now));
  const missing = (from: Record<string, string>, other: Record<string, string>): string[] =>
    Object.entries(from).flatMap(([subject, sentence]) => (subject in other ? [] : [sentence]));
  return [{ active }, { firing: missing(active, state.active), resolved: missing(state.active, active) }];
}

async function newFailures(
  env: Env,
  { account, tags }: AlertBody & { when: "job.failed" },
  { since, reported, counts: before }: AlertState,
  now: number,
): Promise<[Partial<AlertState>, Changes]> {
  const { newest, counts, isCapped } = await findFailed(env.DB, { account, tags, since });
  const known = new Set(reported);
  const added = newest.filter(({ key }) => !known.has(key));
  const { publicUrl } = settingsOf(env);
  const linkTo = (id: string): string => (publicUrl === null ? "" : ` ${publicUrl}/dashboard/jobs/${id}`);
  const firing = added.slice(0, MAX_LISTED).map((job) => `Job ${job.id} of account ${job.accountId}${linkTo(job.id)}`);
  const more = Object.entries(counts).map(([minute, count]) => Math.max(0, count - (before[minute] ?? 0)));
  const count = isCapped ? more.reduce((sum, one) => sum + one, 0) : added.length;
  // Without failed jobs the state stays the same, which saves a write.
  if (newest.length === 0)
    return [
      { reported: [], counts: {} },
      { firing, resolved: [], count },
    ];
  const late = now - LATE_MS;
  const after = {
    since: Math.max(since, late - (late % MINUTE_MS) - 1),
    reported: newest.map(({ key }) => key),
    counts,
  };
  return [after, { firing, resolved: [], count }];
}

/** The subjects for which the condition holds now, each with a sentence. Throws if a hub does not respond. */
async function holding(
  { env, fleet }: Sources,
  rule: Exclude<AlertBody, { when: "job.failed" }>,
  { active }: AlertState,
  now: number,
): Promise<[subject: string, sentence: string][]> {
  if (rule.when === "failures") {
    const { account, tags, percent, min_jobs: least } = rule;
    const { ended, failed } = await countEnded(env.DB, { account, tags, since: now - 60 * MINUTE_MS });
    const isOver = ended >= least && failed * 100 >= percent * ended;
    return isOver ? [["jobs", `${failed} of ${ended} jobs failed within an hour`]] : [];
  }
  if (rule.when === "queue.age") {
    const queues = await fleet.queues(rule.pool);
    return queues
      .filter(({ oldestWaitMs }) => oldestWaitMs > rule.seconds * 1000)
      .map(({ pool, oldestWaitMs: ms }) => [pool, `Pool ${pool}: a task has waited ${Math.round(ms / MINUTE_MS)} min`]);
  }
  const nodes = await fleet.nodes(rule.pool);
  return nodes.flatMap(({ node: { pool, id, state, disk }, lostAt }): [string, string][] => {
    const subject = `${pool}/${id}`;
    if (rule.when === "node.lost") {
      const isLost = state === "gone" && lostAt !== null && now - lostAt > LOST_AFTER_MS;
      return isLost ? [[subject, `Node ${subject} is lost since ${new Date(lostAt).toISOString()}`]] : [];
    }
    // The free space of a node that is away is unknown: its alert stays.
    const sentence = disk
      ? `Node ${subject}: ${(disk.free_bytes / 1e9).toFixed(1)} GB free on its disk`
      : active[subject];
    return sentence !== undefined && (disk?.free_bytes ?? 0) < rule.free_bytes ? [[subject, sentence]] : [];
  });
}
