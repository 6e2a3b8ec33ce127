// What the planner cannot make yet. Whoever teaches it more takes the line away.
import type { Failure } from "../errors.ts";
import type { OutputSpec } from "../output-spec.ts";

/** Why this version cannot make an output, in one plain sentence; null when it can. */
export function unsupported(spec: OutputSpec): Failure | null {
  const what = missing(spec);
  if (!what) return null;
  const message = `The output \`${spec.format}\` cannot be made: this version of the encoder has no ${what} yet.`;
  return { code: "encoder_not_available", message };
}

const missing = (spec: OutputSpec): string | null => (spec.type === "httpstream" ? "HTTP streams" : null);
