// Makes output specifications from formats, for tests of planning and encoding.
import type { Clip } from "../job/clip.ts";
import type { OutputSpec } from "../job/output-spec.ts";
import { withClip } from "../request/clip.ts";
import { parseOutputs } from "../request/outputs/outputs-section.ts";
import { withQualityReport } from "../request/outputs/quality-report.ts";

export type OutputOptions = {
  format: string;
  number?: number;
  square?: boolean;
  durationMs?: number | null;
  measuresQuality?: boolean;
  clip?: Clip;
  /** Further parameters, in the notation of requests. */
  params?: Readonly<Record<string, unknown>>;
};

/** Returns the specification of an output. Throws an error with the parser's message for invalid options. */
export function specOf(
  { format, number, square, durationMs = null, measuresQuality = false, clip, params = {} }: OutputOptions,
  index: number,
): OutputSpec {
  const duration = durationMs === null ? {} : { duration: durationMs / 1000 };
  const image = { ...(number === undefined ? {} : { number }), ...(square === undefined ? {} : { square }) };
  const body = { [format]: { path: format === "httpstream" ? "stream" : "%d", ...duration, ...image, ...params } };
  const parsed = parseOutputs(body, "loopback");
  if (!parsed.ok) throw new Error(parsed.error.message);
  const measured = withQualityReport(parsed.value, { qualityReport: measuresQuality });
  if (!measured.ok) throw new Error(measured.error.message);
  const clipped = withClip(measured.value, clip);
  if (!clipped.ok) throw new Error(clipped.error.message);
  const [spec] = clipped.value;
  if (!spec) throw new Error("No output");
  return { ...spec, index };
}
