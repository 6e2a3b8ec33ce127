#!/usr/bin/env node
// The program `copra` of this repository: runs cli/main.ts with a suitable Node. Plain JavaScript, so that any Node can
// parse it.
import { existsSync } from "node:fs";
import module from "node:module";
import { fileURLToPath } from "node:url";

/** The first version that runs TypeScript files without a flag (local/bootstrap.mjs). */
const OLDEST_NODE = [22, 18];

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const isRecent = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
const isInstalled = existsSync(new URL("../node_modules/commander", import.meta.url));

if (isRecent && isInstalled) {
  // As in local/bootstrap.mjs: it halves the time to start.
  module.enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/compile", import.meta.url)));
  await import("./main.ts");
} else {
  const script = fileURLToPath(new URL("main.ts", import.meta.url));
  process.argv.splice(1, 1, fileURLToPath(new URL("../local/bootstrap.mjs", import.meta.url)), script);
  await import("../local/bootstrap.mjs");
}
