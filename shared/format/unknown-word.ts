// What is said of a word that a format cannot have where it is: what it may have meant, and what is allowed.
import { nearest } from "../nearest.ts";
import { OPTIONS } from "./asked-specs.ts";
import { CONTAINERS_BY_NAME } from "./containers.ts";
import { containerHint, meantByToken } from "./format-hints.ts";
import { allowedIn, type Segment, specOf, tokensOf, WORDS } from "./segment-words.ts";

/** Of a format's first word. */
export function unknownContainer(name: string): string {
  const hint = containerHint(name, name !== "" && specOf("video", name) !== null);
  const allowed = [...CONTAINERS_BY_NAME.keys()].join(", ");
  const rest = `llowed: ${allowed} and, for streaming, httpstream`;
  const said = hint === null ? `a${rest}` : hint.endsWith("?") ? `${hint} A${rest}` : `${hint}; a${rest}`;
  return `Unknown container \`${name}\`; ${said}`;
}

/** A token that its segment does not know. */
type Unknown = {
  readonly name: string;
  readonly kinds: readonly Segment[];
  readonly segments: readonly string[];
  /** The segment's place. */
  readonly at: number;
  readonly token: string;
};

const ORDINALS = ["first", "second", "third", "fourth"];
const NAMES: Readonly<Record<Segment, { a: string; all: string }>> = {
  video: { a: "of the video", all: "the video" },
  audio: { a: "of the audio", all: "the audio" },
  options: { a: "an option", all: "options" },
  size: { a: "a size", all: "the size" },
};

/** Of a word in a segment. */
export function unknownToken(unknown: Unknown): string {
  const { kinds, at, token } = unknown;
  const kind = kinds[at] ?? "video";
  const written = token.replace(/^pix-fmt/i, "pix_fmt");
  const what = kind === "options" ? "option" : `${kind} specification`;
  const owner = kinds.find((other) => other !== kind && specOf(other, token) !== null);
  if (owner !== undefined) {
    const { a, all } = NAMES[owner];
    const place = `${all} ${all.endsWith("s") ? "are" : "is"} the ${ORDINALS[kinds.indexOf(owner) + 1]} part`;
    return `\`${written}\` is ${a}, and ${place}: \`${moved(unknown, owner)}\``;
  }
  const meant = kind === "options" ? meantByOption(token) : meantByToken(kind, token, vocabularyOf(kind));
  const hint = meant === null ? "allowed" : `did you mean ${meant}? Allowed`;
  return `Unknown ${what} \`${written}\`; ${hint}: ${allowedIn(kind)}`;
}

const vocabularyOf = (kind: Exclude<Segment, "options">) => ({
  known: WORDS[kind].known,
  fits: (word: string): boolean => specOf(kind, word) !== null,
});

function meantByOption(token: string): string | null {
  const [name = "", ...value] = token.split("=");
  const option = nearest(name, OPTIONS);
  return option === null ? null : `\`${[option, ...value].join("=")}\``;
}

/** The whole format with the token in the segment that knows it. */
function moved({ name, kinds, segments, at, token }: Unknown, owner: Segment): string {
  const parts = kinds.map((kind, place) => {
    const tokens = tokensOf(kind, segments[place] ?? "");
    const kept = place === at ? tokens.filter((other) => other !== token) : tokens;
    return (kind === owner ? [...kept, token] : kept).join(kind === "options" ? "," : "_");
  });
  return [name, ...parts]
    .join(":")
    .replace(/:+$/, "")
    .replace(/pix-fmt/i, "pix_fmt");
}
