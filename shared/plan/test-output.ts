// What the tests of planning and encoding share: an output as a request would have it, from its format.
import { parseFormat } from "../format/parse-format.ts";
import type { OutputSpec } from "../output-spec.ts";

export type Ask = { format: string; number?: number; square?: boolean; durationMs?: number | null };

/** The specification of one output. Throws the parser's words for a format that is none. */
export function specOf({ format, number = 1, square = false, durationMs = null }: Ask, index: number): OutputSpec {
  const parsed = parseFormat(format);
  if (!parsed.ok) throw new Error(parsed.message);
  const base = { index, key: format, format, path: "x", condition: null };
  if (parsed.spec.kind === "image") {
    const { container, size } = parsed.spec;
    return { ...base, type: "image", container, size, number, square };
  }
  const { container, video, audio } = parsed.spec;
  return { ...base, type: "video", container, video, audio, durationMs };
}
