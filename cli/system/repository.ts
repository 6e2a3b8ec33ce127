// Commands that run programs of this repository: the local system, and nodes.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Run } from "../command-spec.ts";
import { CommandError, EXIT } from "../exit.ts";

/** copra dev. */
export const dev: Run = async (_context, _args, options) =>
  runScript("local/start.ts", options.watch === true ? ["--watch"] : []);

/** copra node without arguments; with some, main.ts calls `runNode`. */
export const node: Run = async () => runNode([]);

/** copra deploy. */
export const deploy: Run = async (_context, _args, options) =>
  runScript("local/deploy/deploy.ts", [
    ...(options.dryRun === true ? ["--dry-run"] : []),
    ...(options.force === true ? ["--force"] : []),
    ...(options.rotateMasterSecret === true ? ["--rotate-master-secret"] : []),
    ...(options.dropOldMasterSecret === true ? ["--drop-old-master-secret"] : []),
  ]);

export const runNode = (args: readonly string[]): Promise<number> => runScript("encoder-node/main.ts", args);

/** Runs a script as npm scripts do, with further environment variables; returns its exit code. */
export function runScript(
  script: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  const root = findRepository();
  const argv = [join(root, "local", "bootstrap.mjs"), join(root, script), ...args];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, argv, { stdio: "inherit", env: { ...process.env, ...env } });
    // A terminal sends Ctrl-C to the child, too, for which a second one means to hurry.
    const isFromTerminal = process.stdin.isTTY === true;
    process.on("SIGINT", () => isFromTerminal || child.kill("SIGINT"));
    for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}

/** The repository around this file. Throws where only the command line is installed. */
export function findRepository(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, "local", "bootstrap.mjs"))) return folder;
    if (folder === dirname(folder)) break;
  }
  throw new CommandError(
    EXIT.usage,
    "This command needs Copra's repository: clone it, and run npm run copra -- with the same arguments there",
  );
}
