// Names of pools and labels in requests, node tokens and nodes. They decide where work may run.
import * as z from "zod";

/** Pool of work and node tokens that name no pool. */
export const DEFAULT_POOL = "default";
/** Maximum number of labels of a token, of a node in addition to them, and of a job's requirements. */
export const MAX_LABELS = 16;

/** Name of a pool: a part of a hub's name, and a label's value in metrics. */
export const PoolName = z
  .string("must be the name of a pool")
  .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, "must have 1 to 32 characters: small letters, digits and - after the first");

/** A label of nodes, such as `gpu`, `region:eu` or `ffmpeg:7.1`. */
export const Label = z
  .string("must be a label, such as gpu or region:eu")
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,30}(:[a-z0-9][a-z0-9._-]{0,31})?$/,
    "must be a label, such as gpu or region:eu: small letters, digits and . _ - with at most one colon, 64 characters",
  );

/** Sorted labels without duplicates. */
export const Labels = z
  .array(Label, "must be a list of labels, such as gpu or region:eu")
  .max(MAX_LABELS, `must have at most ${MAX_LABELS} labels`)
  .transform((labels) => [...new Set(labels)].sort());

/** Returns the part of a label before its colon. */
const keyOf = (label: string): string => label.split(":", 1)[0] ?? label;

/**
 * Returns the labels of a node: its token's labels, and its own labels with other keys. So a node with a token for
 * `region:eu` cannot claim `region:us`.
 */
export function labelsOf(bound: readonly string[], requested: readonly string[]): string[] {
  const keys = new Set(bound.map(keyOf));
  const added = requested.filter((label) => Label.safeParse(label).success && !keys.has(keyOf(label)));
  return [...new Set([...bound, ...added])].sort();
}
