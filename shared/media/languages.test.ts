import { expect, test } from "vitest";
import { languageCode, languageName, languageTag, matchesLanguage } from "./languages.ts";

/** Pairs of a text such as `ger de, fre fr`. */
const pairs = (text: string) => text.split(", ").map((pair) => pair.split(" ")) as [string, string][];

test.each([
  ...pairs("en en, eng en, ENG en, ger de, deu de, fre fr, fra fr, chi zh, cmn zh, zho zh, cze cs, dut nl, nob nb"),
  ...pairs("pt_BR pt-BR, por-br pt-BR, zh-hant-tw zh-Hant-TW, yue yue, und und, English en, Klingonish und, ??? und"),
  ["norwegian bokmål", "nb"],
  ["", "und"],
  [undefined, "und"],
])("returns the canonical tag of the language %j: %s", (tag, canonical) => {
  expect(languageTag(tag)).toBe(canonical);
});

test.each([
  ...pairs("en eng, en en, en en-US, eng en-GB, de ger, de deu, ger deu, EN-us eng-US, zh zh-Hant, zh-Hant zh-Hant-HK"),
  ...pairs("no nob, nor nn-NO, no nor, English eng"),
  ["und", undefined],
])("finds the requested language %s in a track with %j", (requested, tag) => {
  expect(matchesLanguage(requested, tag)).toBe(true);
});

test.each([...pairs("en enm, en-US eng, en-US en-GB, de dut, nb nor, no nbl, en und"), ["en", undefined]])(
  "does not find the requested language %s in a track with %j",
  (requested, tag) => {
    expect(matchesLanguage(requested, tag)).toBe(false);
  },
);

test.each<[string, string | null]>([
  ...pairs("en English, ger Deutsch, fra français, ja 日本語, ar العربية, tlh Klingon"),
  ["pt-BR", "português (Brasil)"],
  ...["und", "qaa", ""].map((tag): [string, null] => [tag, null]),
])("names the language %j: %j", (tag, name) => {
  expect(languageName(tag)).toBe(name);
});

test.each(pairs("en eng, de-AT deu, fre fra, zh-Hant zho, yue yue, fil fil, und und, x-private und"))(
  "returns the code of the language %s for containers: %s",
  (tag, code) => {
    expect(languageCode(tag)).toBe(code);
  },
);
