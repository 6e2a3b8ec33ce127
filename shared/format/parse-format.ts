// Formats of outputs (api-v2 §4): `container[:video[:audio[:options]]]`, `container[:audio]`, `container[:size]`.
import { type AskedSpecs, FormatError, type SpecName } from "./asked-specs.ts";
import { askedByHash, type FormatHash } from "./format-hash.ts";
import type { FormatSpec } from "./format-spec.ts";
import { resolveFormat } from "./resolve-format.ts";
import { splitFormat } from "./split-format.ts";

export type FormatResult =
  | { ok: true; spec: FormatSpec }
  /** `field` is the spec that is wrong, by its name in the hash; null when it is the format as a whole. */
  | { ok: false; message: string; field: SpecName | null };

/** Parses a format; everything in it must be understood. The specs of a hash take the place of those of the text. */
export function parseFormat(text: string, hash?: FormatHash): FormatResult {
  try {
    const { container, asked } = splitFormat(text);
    return { ok: true, spec: resolveFormat({ container, asked: hash ? overridden(asked, askedByHash(hash)) : asked }) };
  } catch (error) {
    if (error instanceof FormatError) return { ok: false, message: error.message, field: error.spec };
    throw error;
  }
}

/** A bitrate takes the place of a quality too, which would otherwise win over it. */
function overridden(asked: AskedSpecs, by: AskedSpecs): AskedSpecs {
  const kept = [...asked].filter(([spec]) => spec !== "quality" || !by.has("video_bitrate"));
  return new Map([...kept, ...by]);
}
