import { expect, it } from "vitest";
import { longComments, wrapComments } from "./long-comments.ts";

const words = (count: number): string => Array.from({ length: count }, (_, at) => `word${at % 10}`).join(" ");

it("finds comments beyond column 120, but no code and no URLs", () => {
  const text = [
    `// ${words(30)}`,
    `const a = "${words(30)}";`,
    `// https://${"x".repeat(130)}`,
    `  * ${words(5)}`,
  ].join("\n");
  expect(longComments("a.ts", text)).toEqual(["a.ts:1: 182 columns"]);
});

it.each<[string, string, string]>([
  [
    "moves words to the next line of the paragraph",
    `// ${words(25)}\n// end.`,
    `// ${words(19)}\n// ${words(25).slice(114)} end.`,
  ],
  [
    "does not touch a list below",
    `// ${words(25)}\n// - end.`,
    `// ${words(19)}\n// ${words(25).slice(114)}\n// - end.`,
  ],
  [
    "opens a doc comment of one line",
    `  /** ${words(22)} */`,
    `  /**\n   * ${words(19)}\n   * ${words(22).slice(114)}\n   */`,
  ],
  [
    "wraps inside of a doc comment",
    `/**\n * ${words(25)}\n */`,
    `/**\n * ${words(19)}\n * ${words(25).slice(114)}\n */`,
  ],
  ["keeps what fits", `// ${words(19)}\nconst a = 1;`, `// ${words(19)}\nconst a = 1;`],
])("wrapping a comment %s", (_, text, wrapped) => {
  expect(wrapComments(text)).toBe(wrapped);
});

it("leaves no long comment, and keeps all words in their order", () => {
  const text = `/**\n * ${words(90)}\n *\n * ${words(40)}\n */\n`;
  const wrapped = wrapComments(text);
  expect(longComments("a.ts", wrapped)).toEqual([]);
  const wordsOf = (comment: string) => comment.match(/word\d/g);
  expect(wordsOf(wrapped)).toEqual(wordsOf(text));
});
