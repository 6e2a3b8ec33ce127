// Formats of outputs (api-v2 §4): `container[:video[:audio[:options]]]`, `container[:audio]`, `container[:size]`.
import { err, ok, type Result } from "../result.ts";
import { type FormatHash, specsOfHash } from "./format-hash.ts";
import type { FormatSpec } from "./format-spec.ts";
import { FormatError, type RequestedSpecs, type SpecName } from "./grammar/requested-specs.ts";
import { splitFormat } from "./grammar/split-format.ts";
import { resolveFormat } from "./resolve-format.ts";

/** `field` is the spec that is wrong, by its name in the hash; null for the format as a whole. */
export type InvalidFormat = { readonly message: string; readonly field: SpecName | null };

/** Parses a format and rejects unknown tokens. The specs of a hash override those of the text. */
export function parseFormat(text: string, hash?: FormatHash): Result<FormatSpec, InvalidFormat> {
  try {
    const { container, requested } = splitFormat(text);
    return ok(resolveFormat({ container, requested: hash ? overridden(requested, specsOfHash(hash)) : requested }));
  } catch (error) {
    if (error instanceof FormatError) return err({ message: error.message, field: error.spec });
    throw error;
  }
}

/** A bitrate in the hash also overrides a quality in the text, which would otherwise take precedence. */
function overridden(requested: RequestedSpecs, by: RequestedSpecs): RequestedSpecs {
  const kept = [...requested].filter(([spec]) => spec !== "quality" || !by.has("video_bitrate"));
  return new Map([...kept, ...by]);
}
