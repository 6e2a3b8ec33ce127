// Finds words that docs/glossary.md replaces.
import { readFileSync } from "node:fs";

/** The refused words with their replacements. Names are split into words: `filmPath` contains `film`. */
const INSTEAD: Readonly<Record<string, string>> = {
  amid: "during",
  anew: "again, restart or retry",
  blow: "fault point",
  borne: "survived",
  breach: "limit exceeded",
  cut: "trim (shorten), split point (chunks), segment boundary (streams)",
  film: "source, video or video output",
  grant: "slot offer, lease or signed upload",
  ledger: "frame index",
  lest: "so that … not",
  lying: "landscape, or a plain verb",
  mend: "fix",
  mishap: "fault",
  moment: "timestamp",
  picture: "video, frame, image, thumbnail, active area or overlay image",
  refusal: "failure or validation error",
  said: "message, report or notify",
  says: "is, reports or states",
  seam: "chunk boundary",
  sound: "audio",
  sounding: "audio outputs",
  stride: "sampling interval",
  struck: "injected",
  tell: "notify, report or advertise",
  told: "notified, reported or advertised",
  trouble: "failure",
  twin: "speculative attempt",
  upright: "portrait",
  whom: "a plain sentence",
  wish: "options",
};

const INFLECTED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.keys(INSTEAD).map((word) => [`${word}s`, word])),
  breaches: "breach",
  cutting: "cut",
  granted: "grant",
  granting: "grant",
  mended: "mend",
  mending: "mend",
  telling: "tell",
  wished: "wish",
  wishes: "wish",
};

/** Names from ffmpeg, a standard or an operating system. */
const GIVEN = [
  /attached_?pic\w*/gi,
  /SoundHandler/g,
  /film_grain/g,
  /<\\?\/?picture>/g,
  /picture[_ ]timing/gi,
  /coded[_ ]picture/gi,
  /picture parameter set/gi,
  /Picture size/g,
  // A characteristic of Apple's HLS Authoring Specification.
  /describes-music-and-sound/g,
  // Fields of responses that existing clients read.
  /smpte240m film\b/g,
  /\|pictures\?\|/g,
  /\brefusals(?=["`]?: |["`] lists|\))/g,
];

/** Names that do not say what a value is. */
const VAGUE_NAME = /\(one\) =>|\b(?:const|let) (?:asked|begun|found|given|kept|made|own|shown)\b/;

export type BadWord = { file: string; line: number; word: string; instead: string; text: string };

const refusedIn = (text: string): string[] => {
  const ours = GIVEN.reduce((rest, name) => rest.replaceAll(name, " "), text);
  const words =
    ours
      .replaceAll(/([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, "$1$3 $2")
      .toLowerCase()
      .match(/[a-z]+/g) ?? [];
  const refused = words.map((word) => INFLECTED[word] ?? word).filter((word) => Object.hasOwn(INSTEAD, word));
  return [...new Set(refused)];
};

/**
 * The refused words in a file's path (as line 0) and in its text, once per line. Names, strings, comments and prose
 * count.
 */
export const badWords = (file: string, text: string): BadWord[] =>
  [file, ...text.split("\n")].flatMap((content, line) => {
    const vague = VAGUE_NAME.exec(content);
    const words = [...refusedIn(content), ...(vague ?? [])];
    return words.map((word) => ({ file, line, word, instead: INSTEAD[word] ?? "a noun", text: content.trim() }));
  });

/** The refused words in files, in the files' order. */
export const badWordsIn = (files: readonly string[]): BadWord[] =>
  files.flatMap((file) => badWords(file, readFileSync(file, "utf8")));
