import { expect, it } from "vitest";
import { mapErrors } from "./map.ts";

const files = [
  "p/a/1.ts",
  "p/a/two.ts",
  "p/a/b/1.ts",
  "p/a/b/two.ts",
  "p/a/c/1.ts",
  "p/a/c/two.ts",
  "p/d/1.ts",
  "p/d/a.test.ts",
];

it("finds folders in no row or in two rows, and rows of missing folders", () => {
  const map = (...rows: string[]) => `| \`old/\` | |\n## Rooms\n${rows.map((row) => `${row}\n`).join("")}`;
  expect(mapErrors(map("| `p/a/` | `b/` and more |", "| `p/a/c/` | |"), files)).toEqual([]);
  expect(mapErrors(map("| `p/a/`, `p/e/` | |", "| `p/a/` | `c/` |"), files)).toEqual([
    "p/e/ has a row and does not exist",
    "p/a/ has two rows",
    "p/a/b/ is in no row",
  ]);
});
