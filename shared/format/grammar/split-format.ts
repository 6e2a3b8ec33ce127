// Splits the text of a format into specs: `mp4:720p_25fps::quality=4` → mp4, resolution 720p, fps 25fps, quality 4.

import { CONTAINERS_BY_NAME, type Container } from "../containers.ts";
import { FormatError, type RequestedSpecs, type SpecName } from "./requested-specs.ts";
import { segmentsOf, specOf, tokensOf } from "./segments.ts";
import { unknownContainer, unknownToken } from "./unknown-token.ts";

export type SplitFormat = { container: Container; requested: RequestedSpecs };

/** Maximum length of the text: enough for every spec several times. */
export const MAX_FORMAT_CHARS = 200;

/** Splits a format into specs, which it recognizes by their form. Throws FormatError for unknown tokens. */
export function splitFormat(text: string): SplitFormat {
  if (text.length > MAX_FORMAT_CHARS)
    throw new FormatError(null, `A format must have at most ${MAX_FORMAT_CHARS} characters`);
  const [name = "", ...segments] = text.split(":");
  const container = CONTAINERS_BY_NAME.get(name.toLowerCase());
  if (!container) throw new FormatError(null, unknownContainer(name));
  const kinds = segmentsOf(container);
  const rest = segments.slice(kinds.length);
  if (rest.some((segment) => segment !== "")) {
    const form = [name, ...kinds.map((kind) => (kind === "none" ? "" : `<${kind}>`))].join(":");
    throw new FormatError(
      null,
      `\`${rest.join(":")}\` is one segment too many; the form of this container is \`${form}\``,
    );
  }
  const requested = new Map<SpecName, string>();
  for (const [at, kind] of kinds.entries()) {
    for (const token of tokensOf(kind, segments[at] ?? "")) {
      const read = specOf(kind, token);
      if (!read) throw new FormatError(null, unknownToken({ name, kinds, segments, at, token }));
      const [spec, value] = read;
      if (requested.has(spec))
        throw new FormatError(spec, `\`${value}\` sets \`${spec}\` a second time; remove one of the two`);
      requested.set(spec, value);
    }
  }
  return { container, requested };
}
