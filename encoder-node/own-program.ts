// Finds the programs and threads that this node starts beside its own.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The path of a program beside a module. In the npm package, it is a bundle beside the bundled node (local/package/). */
export const programBeside = (moduleUrl: string, name: string): string =>
  [".ts", ".mjs"].map((end) => fileURLToPath(new URL(`./${name}${end}`, moduleUrl))).find(existsSync) ?? "";
