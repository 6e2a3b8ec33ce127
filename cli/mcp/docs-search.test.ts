import { describe, expect, it } from "vitest";
import { bestSections, sectionsOf } from "./docs-search.ts";

const DOCS = [
  "# Encode",
  "Intro.",
  "## Video",
  "Sets `crf` and the codec.",
  "```sh",
  "# not a heading",
  "```",
  "### Watermark",
  "An image over the video.",
  "# Storage",
  "Buckets with a codec of their own.",
].join("\n");

describe("sections of the documentation", () => {
  it("have the titles above them, and keep code", () => {
    expect(sectionsOf(DOCS).map(({ title }) => title)).toEqual([
      "Encode",
      "Encode > Video",
      "Encode > Video > Watermark",
      "Storage",
    ]);
    expect(sectionsOf(DOCS)[1]?.text).toContain("# not a heading");
  });

  it.each([
    ["watermark", ["Encode > Video > Watermark"]],
    ["CRF codec", ["Encode > Video", "Storage"]],
    ["zebra-stripes.", []],
    ["()*", []],
  ])("are found by %s", (query, titles) => {
    expect(bestSections(sectionsOf(DOCS), query).map(({ title }) => title)).toEqual(titles);
  });

  it("are at most five, with limited text", () => {
    const many = Array.from({ length: 9 }, (_, at) => ({ title: `word ${at}`, text: "word ".repeat(2000) }));
    const sections = bestSections(many, "word");
    expect([sections.length, Math.max(...sections.map(({ text }) => text.length))]).toEqual([5, 3000]);
  });
});
