// The error messages for unknown tokens of a format: what was probably meant, and what is allowed.
import { nearest } from "../../nearest.ts";
import { CONTAINERS_BY_NAME } from "../containers.ts";
import { OPTIONS } from "./requested-specs.ts";
import { allowedIn, type Segment, specOf, TOKENS, tokensOf } from "./segments.ts";
import { suggestContainer, suggestToken } from "./suggestions.ts";

/** The message for an unknown container. */
export function unknownContainer(name: string): string {
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
  /** The index of the segment. */
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

/** The message for an unknown token in a segment. */
export function unknownToken(unknown: Unknown): string {
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

/** The whole format, with the token in the segment in which it is valid. */
function moved({ name, kinds, segments, at, token }: Unknown, owner: Segment): string {
  const parts = kinds.map((kind, place) => {
    const tokens = tokensOf(kind, segments[place] ?? "");
    const kept = place === at ? tokens.filter((other) => other !== token) : tokens;
    return (kind === owner ? [...kept, token] : kept).join(kind === "options" ? "," : "_");
  });
  return [name, ...parts]
    .join(":")
    .replace(/(?<!:):+$/, "")
    .replace(/pix-fmt/i, "pix_fmt");
}
