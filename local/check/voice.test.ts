import { expect, it } from "vitest";
import { proseOf, proseOfMarkdown, ratesOf, voiceErrors } from "./voice.ts";

const SOURCE = `// What waits.
/**
 * Whether one of those that wait
 * has begun.
 */
const a = "Give the ones of which you know";
const b = \`A message that has \${a} and others in it\`;
it.each([["a b c d"]])("shows what of %s is left", () => undefined);
describe("those of a job", () => undefined);
const c = <p>Text that people read here</p>;
`;

it("finds comments, messages and test titles with their lines", () => {
  const prose = proseOf("a.test.tsx", SOURCE).prose.map(({ kind, line, text }) => [kind, line, text.trim()]);
  expect(prose).toEqual(
    expect.arrayContaining([
      ["comments", 1, "What waits."],
      ["comments", 3, "Whether one of those that wait"],
      ["comments", 4, "has begun."],
      ["messages", 6, "Give the ones of which you know"],
      ["messages", 10, "Text that people read here"],
      ["titles", 8, "shows what of %s is left"],
      ["titles", 9, "those of a job"],
    ]),
  );
});

it("reports each habit above its limit with its places", () => {
  const errors = voiceErrors("comments", proseOf("a.test.tsx", SOURCE).prose);
  const habits = errors.filter((line) => !line.startsWith(" ")).map((line) => line.replace(/ \d.*/, ""));
  expect(habits).toEqual(['"what"', '"one"', '"those that"', '"begin"']);
  expect(errors[0]).toMatch(/^"what" [\d.]+ times in 1,000 words of comments, at most 1:$/);
  expect(errors).toContain("  a.test.tsx:1: What waits.");
});

it("accepts a habit below its limit", () => {
  const text = [...Array(300).fill("plain words that say it"), "what"].join("\n");
  expect(ratesOf(proseOfMarkdown("a.md", text)).rates.what).toBeLessThan(1);
  expect(voiceErrors("docs", proseOfMarkdown("a.md", text))).toEqual([]);
});

it("reports docstrings that start with a question word", () => {
  expect(proseOf("a.tsx", SOURCE).badStarts).toEqual([expect.stringMatching(/^a\.tsx:2: .*Whether one of/)]);
});
