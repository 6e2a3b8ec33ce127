// The `settings` section of a job request: the kind of work, its nodes and its time limits.
import * as z from "zod";
import { isoTime } from "../iso-time.ts";
import { TagChanges } from "../job/tags.ts";
import { DEFAULT_POOL, Labels, PoolName } from "../placement.ts";
import { ok, type Result } from "../result.ts";
import { strictObject } from "../strict-object.ts";
import { invalid, parseSection } from "./parse-section.ts";

export const MAX_PRIORITY = 50;
const DAY_S = 24 * 60 * 60;
/** A job fails if its work waits for a node for this long. */
export const DEFAULT_START_WITHIN_S = DAY_S;
/** Maximum time for a start or a run. */
export const MAX_WAIT_S = 30 * DAY_S;

/** Settings as jobs store them. */
export const SettingsSpec = z.object({
  ultrafast: z.boolean(),
  /** True to measure the quality of encoded videos. Outputs have the same mark (`measuresQuality`). */
  qualityReport: z.boolean(),
  /** The pool whose nodes do the work. */
  queue: z.string(),
  /** -50 to 50; work of a higher priority is assigned before other work of the account. */
  priority: z.int(),
  /** Labels that a node must have; sorted, without duplicates. */
  require: z.array(z.string()),
  /** No node gets work of the job before this time, in ms since 1970. Null: it starts at once. */
  startAtMs: z.number().nullable(),
  /** The job fails if its work waits for a node for this long. */
  startWithinMs: z.number(),
  /** The job fails if it has not ended this long after its first task started. Null: no limit. */
  maxRunMs: z.number().nullable(),
});
export type SettingsSpec = z.infer<typeof SettingsSpec>;

const waitSeconds = z
  .int("must be a whole number of seconds")
  .min(1, "must be at least 1 second")
  .max(MAX_WAIT_S, `must be at most ${MAX_WAIT_S} seconds (30 days)`);
const priority = z
  .int(`must be a whole number from -${MAX_PRIORITY} to ${MAX_PRIORITY}`)
  .min(-MAX_PRIORITY, `must be a whole number from -${MAX_PRIORITY} to ${MAX_PRIORITY}`)
  .max(MAX_PRIORITY, `must be a whole number from -${MAX_PRIORITY} to ${MAX_PRIORITY}`);

/** The `settings` section of a request. */
export const SettingsBody = strictObject({
  ultrafast: z
    .boolean("must be true or false")
    .default(false)
    .describe("Whether to split inputs longer than a minute into chunks that several nodes encode at the same time"),
  quality_report: z
    .boolean("must be true or false")
    .default(false)
    .describe("Whether to measure VMAF, PSNR and SSIM of encoded videos against their source, for their metadata"),
  queue: PoolName.default(DEFAULT_POOL).describe("The pool of nodes that does the work"),
  priority: priority
    .default(0)
    .describe(`Work of a higher priority comes before other work of the account: -${MAX_PRIORITY} to ${MAX_PRIORITY}`),
  require: Labels.default([]).describe("Labels that a node must have to get the work, such as `gpu` or `region:eu`"),
  start_at: isoTime
    .optional()
    .describe("When the work starts: a time up to 30 days ahead (ISO 8601; UTC without an offset); at once by default"),
  start_within_s: waitSeconds
    .default(DEFAULT_START_WITHIN_S)
    .describe("The job fails if its work waits for a node for this many seconds; a day by default"),
  max_run_s: waitSeconds
    .optional()
    .describe("The job fails if it has not ended this many seconds after its first task started; no limit by default"),
});

/** The body of PATCH /v2/jobs/:id. */
export const JobChanges = strictObject({
  settings: strictObject({
    priority: priority.describe(
      `Work of a higher priority comes before other work of the account: -${MAX_PRIORITY} to ${MAX_PRIORITY}`,
    ),
  })
    .exactOptional()
    .describe("Changes before the end of the job"),
  tags: TagChanges.exactOptional(),
}).refine(({ settings, tags }) => settings !== undefined || tags !== undefined, "must have `settings`, `tags` or both");
export type JobChanges = z.infer<typeof JobChanges>;

/** Parses the `settings` section; undefined and null mean no settings. `now` in ms since 1970. */
export function parseSettings(value: unknown, now = Date.now()): Result<SettingsSpec> {
  const parsed = parseSection(SettingsBody, value ?? {}, "settings", "settings_not_valid");
  if (!parsed.ok) return parsed;
  const { start_at: startAtMs = null, start_within_s, max_run_s, ...rest } = parsed.value;
  const { quality_report: qualityReport, ...settings } = rest;
  if (startAtMs !== null && startAtMs > now + MAX_WAIT_S * 1000) {
    return invalid("settings_not_valid", "`settings.start_at` must be at most 30 days ahead");
  }
  return ok({
    ...settings,
    qualityReport,
    startAtMs,
    startWithinMs: start_within_s * 1000,
    maxRunMs: max_run_s === undefined ? null : max_run_s * 1000,
  });
}
