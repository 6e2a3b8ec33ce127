// Finds the programs and threads that this node starts beside its own.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The path of a program beside a module. The npm package has it as a bundle beside the bundled node. */
export const programBeside = (moduleUrl: string, name: string): string =>
  [".ts", ".mjs"].map((end) => fileURLToPath(new URL(`./${name}${end}`, moduleUrl))).find(existsSync) ?? "";
