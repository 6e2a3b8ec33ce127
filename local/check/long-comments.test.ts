import { expect, it } from "vitest";
import { longComments } from "./long-comments.ts";

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
