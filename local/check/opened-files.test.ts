import { expect, it } from "vitest";
import { openingImports } from "./opened-files.ts";

it.each([
  ['import { readFile, rm } from "node:fs/promises";', ["readFile"]],
  ['import { chmodSync as allow, existsSync } from "node:fs";', ["chmodSync"]],
  ['import {\n  constants,\n  createReadStream,\n} from "node:fs";', ["createReadStream"]],
  ['import { type FileHandle, open } from "fs/promises";', ["open"]],
  ['import * as fs from "node:fs";', ["*"]],
  ['import fs from "node:fs";', ["*"]],
  ['import type { FileHandle } from "node:fs/promises";', []],
  ['import { mkdtemp, rename } from "node:fs/promises";\nimport { open } from "./file.ts";', []],
])("finds functions that open files in %s", (text, names) => {
  expect(openingImports(text)).toEqual(names);
});
