import { expect, it } from "vitest";
import { badWords } from "./words.ts";

const wordsIn = (text: string, file = "a.ts"): string[] => badWords(file, text).map(({ word }) => word);

it.each<[string, string, string]>([
  ["an identifier", "const filmPath = 1;", "film"],
  ["a constant", "const MAX_PICTURES = 1;", "picture"],
  ["a word after an acronym", "const isHDPicture = 1;", "picture"],
  ["a string", 'log("the film is ready")', "film"],
  ["a key", '{ "sound": 1 }', "sound"],
  ["a comment", "// Begins the job anew.", "anew"],
  ["a plural", "const seams = [];", "seam"],
  ["an inflection", "// What was granted before.", "grant"],
  ["a vague variable", "const found = 1;", "const found"],
  ["a vague parameter", "tasks.map((one) => one.id)", "(one) =>"],
  ["a capital letter", "// Lest it fails.", "lest"],
])("finds a refused word in %s", (_, text, word) => {
  expect(wordsIn(text)).toEqual([word]);
});

it("finds a refused word in the name of a file, and each word once per line", () => {
  expect(badWords("shared/picture.ts", "const a = 1;\nfilm, film, a film and a twin")).toMatchObject([
    { line: 0, word: "picture" },
    { line: 2, word: "film" },
    { line: 2, word: "twin" },
  ]);
});

it.each(["attached_pic", "attachedPicture", "SoundHandler", "picture_timing", "the coded picture's size"])(
  "accepts the given name %s",
  (text) => {
    expect(wordsIn(text)).toEqual([]);
  },
);

it.each(["soundtrack", "execute", "uncut4", "filmstrip", "intellect", "blowfish"])(
  "accepts the different word %s",
  (text) => {
    expect(wordsIn(text)).toEqual([]);
  },
);
