// Where work may run: names of pools and labels, as requests, node tokens and nodes write them.
import * as z from "zod";

/** The pool of work and of node tokens that name none. */
export const DEFAULT_POOL = "default";
/** Labels of one token, of one node beside those, and of one job's requirements. */
export const MAX_LABELS = 16;

/** The name of a pool: a part of a hub's name, and a label's value in metrics. */
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

/** Labels in order, each once. */
export const Labels = z
  .array(Label, "must be a list of labels, such as gpu or region:eu")
  .max(MAX_LABELS, `must have at most ${MAX_LABELS} labels`)
  .transform((labels) => [...new Set(labels)].sort());

/** The part of a label before its colon. */
const keyOf = (label: string): string => label.split(":", 1)[0] ?? label;

/**
 * The labels of a node: those of its token, and those that it gives itself, except where the token has a label of the
 * same key. So a node with a token for `region:eu` cannot claim `region:us`.
 */
export function labelsOf(bound: readonly string[], own: readonly string[]): string[] {
  const keys = new Set(bound.map(keyOf));
  const added = own.filter((label) => Label.safeParse(label).success && !keys.has(keyOf(label)));
  return [...new Set([...bound, ...added])].sort();
}
