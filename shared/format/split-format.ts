// A format's text cut into its specs: `mp4:720p_25fps::quality=4` → mp4, resolution 720p, fps 25fps, quality 4.

import { type AskedSpecs, FormatError, type SpecName } from "./asked-specs.ts";
import { CONTAINERS_BY_NAME, type Container } from "./containers.ts";
import { segmentsOf, specOf, tokensOf } from "./segment-words.ts";
import { unknownContainer, unknownToken } from "./unknown-word.ts";

export type SplitFormat = { container: Container; asked: AskedSpecs };

/** Longest text: every spec fits several times. */
export const MAX_FORMAT_CHARS = 200;

/** Cuts a format into specs, each by its shape; what has none of the shapes is refused. Throws FormatError. */
export function splitFormat(text: string): SplitFormat {
  if (text.length > MAX_FORMAT_CHARS)
    throw new FormatError(null, `A format has at most ${MAX_FORMAT_CHARS} characters`);
  const [name = "", ...segments] = text.split(":");
  const container = CONTAINERS_BY_NAME.get(name.toLowerCase());
  if (!container) throw new FormatError(null, unknownContainer(name));
  const kinds = segmentsOf(container);
  const rest = segments.slice(kinds.length);
  if (rest.some((segment) => segment !== "")) {
    const form = [name, ...kinds.map((kind) => `<${kind}>`)].join(":");
    throw new FormatError(null, `\`${rest.join(":")}\` is left over; a format of this container is \`${form}\``);
  }
  const asked = new Map<SpecName, string>();
  for (const [at, kind] of kinds.entries()) {
    for (const token of tokensOf(kind, segments[at] ?? "")) {
      const read = specOf(kind, token);
      if (!read) throw new FormatError(null, unknownToken({ name, kinds, segments, at, token }));
      const [spec, value] = read;
      if (asked.has(spec)) throw new FormatError(spec, `\`${value}\` gives \`${spec}\` a second time`);
      asked.set(spec, value);
    }
  }
  return { container, asked };
}
