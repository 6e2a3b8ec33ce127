import { expect, it } from "vitest";
import { brokenLinks } from "./links.ts";

const FILES: Record<string, string> = {
  "README.md": "# Copra\n\n## Run it: for real?\n",
  "docs/a.md": "",
  "shared/errors.ts": "",
  "worker/job/": "",
};
const broken = (text: string): string[] =>
  brokenLinks("docs/a.md", {
    exists: (path) => path in FILES,
    read: (path) => (path === "docs/a.md" ? text : (FILES[path] ?? "")),
  });

it.each([
  "[a](../README.md)",
  "[a](../README.md#run-it-for-real)",
  "# Own Heading\n[a](#own-heading)",
  "[a](https://example.com/none)",
  "`shared/errors.ts` and `worker/job/` and `npm run check`",
  "```sh\n[a](none.md)\n```",
])("accepts the links and paths in %j", (text) => {
  expect(broken(text)).toEqual([]);
});

it.each([
  ["[a](none.md)", "docs/a.md:1: none.md"],
  ["\n[a](../README.md#none)", "docs/a.md:2: ../README.md#none"],
  ["`shared/none.ts`", "docs/a.md:1: shared/none.ts"],
])("finds the broken link or path in %j", (text, message) => {
  expect(broken(text)).toEqual([message]);
});
