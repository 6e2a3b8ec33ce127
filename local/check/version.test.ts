import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { VERSION } from "#shared/version.ts";

it("keeps VERSION equal to the version in package.json", () => {
  const file = join(import.meta.dirname, "..", "..", "package.json");
  expect(VERSION).toBe(JSON.parse(readFileSync(file, "utf8")).version);
});
