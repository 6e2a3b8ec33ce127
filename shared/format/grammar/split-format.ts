// Splits the text of a format into specs: `mp4:720p_25fps::quality=4` → mp4, resolution 720p, fps 25fps, quality 4.
import { nearest } from "../../nearest.ts";
import { CONTAINERS_BY_NAME, type Container } from "../containers.ts";
import { FormatError, OPTIONS, type RequestedSpecs, type SpecName } from "./requested-specs.ts";
import { allowedIn, type Segment, segmentsOf, specOf, TOKENS, tokensOf } from "./segments.ts";
import { suggestContainer, suggestToken } from "./suggestions.ts";

export type SplitFormat = { container: Container; requested: RequestedSpecs };

/** Maximum length of the text: enough for every spec several times. */
export const MAX_FORMAT_CHARS = 200;

/** Splits a format into specs. Recognizes each spec by its form. Throws FormatError for unknown tokens. */
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
        throw new FormatError(spec, `\`${value}\` sets \`${spec}\` a second time; remove either`);
      requested.set(spec, value);
    }
  }
  return { container, requested };
}

// Error messages for unknown tokens of a format: a suggestion, and the allowed tokens.

/** Returns the message for an unknown container. */
function unknownContainer(name: string): string {
  const hint = suggestContainer(name, name !== "" && specOf("video", name) !== null);
  const allowed = [...CONTAINERS_BY_NAME.keys()].join(", ");
  const rest = `llowed: ${allowed} and, for streaming, httpstream`;
  const advice = hint === null ? `a${rest}` : hint.endsWith("?") ? `${hint} A${rest}` : `${hint}; a${rest}`;
  return `Unknown container \`${name}\`; ${advice}`;
}

/** A token that is not valid in its segment. */
type Unknown = {
  readonly name: string;
  readonly kinds: readonly Segment[];
  readonly segments: readonly string[];
  /** Index of the segment. */
  readonly at: number;
  readonly token: string;
};

const ORDINALS = ["first", "second", "third", "fourth"];
const NAMES: Readonly<Record<Segment, string>> = {
  video: "a video specification",
  audio: "an audio specification",
  options: "an option",
  size: "a size",
  none: "nothing",
};

/** Returns the message for an unknown token in a segment. */
function unknownToken(unknown: Unknown): string {
  const { kinds, at, token } = unknown;
  const kind = kinds[at] ?? "video";
  const written = token.replace(/^pix-fmt/i, "pix_fmt");
  const what = kind === "options" ? "option" : `${kind} specification`;
  const owner = kinds.find((other) => other !== kind && specOf(other, token) !== null);
  if (owner !== undefined) {
    const ordinal = ORDINALS[kinds.indexOf(owner) + 1];
    return `\`${written}\` is ${NAMES[owner]} and belongs in the ${ordinal} segment: \`${moved(unknown, owner)}\``;
  }
  if (kind === "none") return `\`${written}\` is not allowed here: images have no audio`;
  const meant = kind === "options" ? suggestOption(token) : suggestToken(kind, token, vocabularyOf(kind));
  const hint = meant === null ? "allowed" : `did you mean ${meant}? Allowed`;
  return `Unknown ${what} \`${written}\`; ${hint}: ${allowedIn(kind)}`;
}

const vocabularyOf = (kind: Exclude<Segment, "options">) => ({
  known: TOKENS[kind].known,
  fits: (token: string): boolean => specOf(kind, token) !== null,
});

function suggestOption(token: string): string | null {
  const [name = "", ...value] = token.split("=");
  const option = nearest(name, OPTIONS);
  return option === null ? null : `\`${[option, ...value].join("=")}\``;
}

/** Returns the whole format with the token moved to the segment in which it is valid. */
function moved({ name, kinds, segments, at, token }: Unknown, owner: Segment): string {
  const parts = kinds.map((kind, place) => {
    const tokens = tokensOf(kind, segments[place] ?? "");
    const others = place === at ? tokens.filter((other) => other !== token) : tokens;
    return (kind === owner ? [...others, token] : others).join(kind === "options" ? "," : "_");
  });
  return [name, ...parts]
    .join(":")
    .replace(/(?<!:):+$/, "")
    .replace(/pix-fmt/i, "pix_fmt");
}
