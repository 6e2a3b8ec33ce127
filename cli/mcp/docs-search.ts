// Searches the documentation that the service serves as a single text.
import { namedFetch } from "../connection/named-fetch.ts";

export type Found = { readonly title: string; readonly text: string };

const MAX_FOUND = 5;
const MAX_CHARS = 3000;
/** A word in a title counts more than words in the text. */
const TITLE_WEIGHT = 5;
/** Further occurrences of a word in a section say little. */
const MAX_COUNT = 3;

export class DocsSearch {
  readonly #url: string;
  #sections: readonly Found[] | null = null;

  constructor(serviceUrl: string) {
    this.#url = new URL("/llms-full.txt", serviceUrl).href;
  }

  /** The sections with most of the words, best first. Throws Error if the service has no documentation. */
  async search(query: string): Promise<Found[]> {
    this.#sections ??= sectionsOf(await this.#read());
    return bestSections(this.#sections, query);
  }

  async #read(): Promise<string> {
    const response = await namedFetch(this.#url);
    if (response.ok) return response.text();
    throw new Error(`The documentation at ${this.#url} cannot be read: HTTP ${response.status}`);
  }
}

/** Splits Markdown at its headings. Each title has the headings above it. */
export function sectionsOf(text: string): Found[] {
  const titles: string[] = [];
  const sections: { title: string; lines: string[] }[] = [];
  let isCode = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) isCode = !isCode;
    const [, marks = "", title = ""] = (isCode ? null : /^(#{1,4}) (\S.*)$/.exec(line)) ?? [];
    if (title === "") {
      sections.at(-1)?.lines.push(line);
      continue;
    }
    titles.length = Math.min(titles.length, marks.length - 1);
    titles.push(title);
    sections.push({ title: titles.join(" > "), lines: [] });
  }
  return sections.map(({ title, lines }) => ({ title, text: lines.join("\n").trim() }));
}

export function bestSections(sections: readonly Found[], query: string): Found[] {
  const words = query.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  const scored = sections.map((section) => ({ section, score: scoreOf(section, words) }));
  const best = scored.filter(({ score }) => score > 0).toSorted((a, b) => b.score - a.score);
  return best
    .slice(0, MAX_FOUND)
    .map(({ section: { title, text } }) => ({ title, text: text.slice(0, MAX_CHARS).toWellFormed() }));
}

function scoreOf({ title, text }: Found, words: readonly string[]): number {
  const [heading, body] = [title.toLowerCase(), text.toLowerCase()];
  const counts = words.map((word) => {
    const inTitle = heading.includes(word) ? TITLE_WEIGHT : 0;
    return inTitle + Math.min(MAX_COUNT, body.split(word).length - 1);
  });
  const matched = counts.filter((count) => count > 0).length;
  return counts.reduce((sum, count) => sum + count, 0) * matched;
}
