// Which words the code does not use, because the field has better ones (docs/glossary.md), and where they are used.
import { readFileSync } from "node:fs";

/** Each word that is refused, with what to say instead. Words are compared by their parts: `filmPath` holds `film`. */
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
  mend: "fix",
  mishap: "fault",
  moment: "timestamp",
  picture: "video, frame, image, thumbnail, active area or overlay image",
  refusal: "failure or validation error",
  said: "message, report or notify",
  says: "is, reports or states",
  seam: "chunk boundary",
  sound: "audio",
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

const PLURALS = Object.fromEntries(Object.keys(INSTEAD).map((word) => [`${word}s`, word]));
const INFLECTED: Readonly<Record<string, string>> = {
  ...PLURALS,
  breaches: "breach",
  cutting: "cut",
  granted: "grant",
  granting: "grant",
  mended: "mend",
  mending: "mend",
  wished: "wish",
  wishes: "wish",
};

/** What stands in a string or an identifier of ours though another names it so: ffmpeg, a standard, an operating system. */
const GIVEN = [
  /attached_?pic\w*/gi,
  /SoundHandler/g,
  /picture[_ ]timing/gi,
  /coded[_ ]picture/gi,
  /picture parameter set/gi,
];

export type BadWord = { file: string; line: number; word: string; instead: string; text: string };

const refusedIn = (text: string): string[] => {
  const ours = GIVEN.reduce((rest, given) => rest.replaceAll(given, " "), text);
  const words =
    ours
      .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .match(/[a-z]+/g) ?? [];
  return words.map((word) => INFLECTED[word] ?? word).filter((word) => Object.hasOwn(INSTEAD, word));
};

/** The refused words in one text of a file, each once per line. Everything counts: names, strings, comments, prose. */
export const badWords = (file: string, text: string): BadWord[] =>
  text.split("\n").flatMap((line, at) =>
    [...new Set(refusedIn(line))].map((word) => ({
      file,
      line: at + 1,
      word,
      instead: INSTEAD[word] ?? "",
      text: line.trim(),
    })),
  );

/** The refused words in files, in their order. */
export const badWordsIn = (files: readonly string[]): BadWord[] =>
  files.flatMap((file) => badWords(file, readFileSync(file, "utf8")));
