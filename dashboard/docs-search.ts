// The search of /docs: stems, prefixes, one wrong letter, and the words of other services. Pages load it on demand.
import MiniSearch from "minisearch";

/** A section of a page, as in local/guides/page.ts. */
export type Section = readonly [page: string, title: string, heading: string, id: string, text: string];
/** A section, and the start of a word to mark in its text. */
export type Result = { readonly section: Section; readonly word: string };

/** Words with the same meaning here, as people write them. */
const SYNONYMS = [
  "transcode convert encode",
  "resize resolution size",
  "thumbnail poster image",
  "subtitle caption",
  "hook callback webhook",
  "server worker machine node",
  "s3 bucket storage",
  "login signin password sign",
  "price bill pricing cost",
  "install setup start",
  "k8s kubernetes",
  "hls dash streaming stream",
  "trim clip offset",
  "logo overlay watermark",
  "token credential key",
  "mp3 music audio",
];

/** The part of an English word that its forms share: `encod` of "encoding", "encodes" and "encode". */
const stem = (word: string): string => word.toLowerCase().replace(/(?<=.{3})(?:ings?|e?s|ed|e)$/, "");
const MEANINGS = SYNONYMS.map((words) => words.split(" ").map(stem));

const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}]+/gu) ?? [];

/** Pages that mention everything: their sections come after those of guides. */
const LISTS = /^(migrating|reference)\/|^(api-v2|conformance|glossary|map)$/;

/**
 * Returns a function that finds sections by words. Sections with all words come first, and of these, sections with the
 * words in their titles.
 */
export function searchOf(sections: readonly Section[]): (text: string) => readonly Result[] {
  const index = new MiniSearch({
    fields: ["title", "heading", "text"],
    tokenize: wordsOf,
    processTerm: stem,
    searchOptions: {
      boost: { title: 8, heading: 4 },
      // The start of a page answers a search for the page.
      boostDocument: (id) => (sections[id]?.[2] === "" ? 2 : 1) * (LISTS.test(sections[id]?.[0] ?? "") ? 0.2 : 1),
      prefix: (term) => term.length > 1,
      fuzzy: (term) => (term.length > 4 ? 1 : false),
    },
  });
  index.addAll(sections.map(([, title, heading, , text], id) => ({ id, title, heading, text })));
  return (text) => {
    const queries = wordsOf(text).map((word) => {
      const meanings = MEANINGS.find((group) => group.includes(stem(word))) ?? [];
      return { combineWith: "OR" as const, queries: [...new Set([word, ...meanings])] };
    });
    const ranked = (["AND", "OR"] as const).flatMap((combineWith) => index.search({ combineWith, queries }));
    const words = new Map(ranked.toReversed().map(({ id, terms: [word = ""] }) => [id, word]));
    return [...new Set(ranked.map(({ id }) => id))].flatMap((id) => {
      const section = sections[id];
      return section ? [{ section, word: words.get(id) ?? "" }] : [];
    });
  };
}
