// Formats of outputs (api-v2 §4): `container[:video[:audio[:options]]]`, `container[:audio]`, `container[:size]`.
import type { Result } from "../result.ts";
import { type FormatHash, specsOfHash } from "./format-hash.ts";
import type { FormatSpec } from "./format-spec.ts";
import type { RequestedSpecs } from "./grammar/requested-specs.ts";
import { splitFormat } from "./grammar/split-format.ts";
import { type InvalidFormat, resolveFormat } from "./resolve-format.ts";

/** Parses a format and rejects unknown tokens. The specs of a hash override the text's specs. */
export function parseFormat(text: string, hash?: FormatHash): Result<FormatSpec, InvalidFormat> {
  return resolveFormat(() => {
    const { container, requested } = splitFormat(text);
    return { container, requested: hash ? overridden(requested, specsOfHash(hash)) : requested };
  });
}

/** A bitrate in the hash also overrides a quality in the text, which would otherwise take precedence. */
function overridden(requested: RequestedSpecs, by: RequestedSpecs): RequestedSpecs {
  const ofText = [...requested].filter(([spec]) => spec !== "quality" || !by.has("video_bitrate"));
  return new Map([...ofText, ...by]);
}
