// Commands that run programs of this repository or of the npm package: the local system, and nodes.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Run } from "../command-spec.ts";
import { CommandError, EXIT } from "../exit.ts";

export const dev: Run = async (_context, _args, options) =>
  runScript("local/start.ts", options.watch === true ? ["--watch"] : []);

/** Handles `copra node` without arguments. With arguments, main.ts calls `runNode`. */
export const node: Run = async () => runNode([]);

export const deploy: Run = async (_context, _args, options) =>
  runScript("local/deploy/deploy.ts", options.dryRun === true ? ["--dry-run"] : []);

export const runNode = (args: readonly string[]): Promise<number> => runScript("encoder-node/main.ts", args);

/** Runs a script like an npm script, with additional environment variables. Returns its exit code. */
export function runScript(
  script: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  const root = findRepository();
  if (!hasProgram(root, script)) throw notHere();
  const argv = [join(root, "local", "bootstrap.mjs"), join(root, script), ...args];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, argv, { stdio: "inherit", env: { ...process.env, ...env } });
    // A terminal sends Ctrl-C to the child, too. A second SIGINT would make the child hurry, so do not pass it on.
    const isFromTerminal = process.stdin.isTTY === true;
    process.on("SIGINT", () => isFromTerminal || child.kill("SIGINT"));
    for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
    if (process.env.npm_lifecycle_event === "npx") endWithParent(child);
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}

const PARENT_CHECK_MS = 500;

/**
 * Ends the child with its parent: npx passes on no signals, so a service would continue after its supervisor stops npx.
 */
function endWithParent(child: ChildProcess): void {
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && child.kill("SIGTERM"), PARENT_CHECK_MS).unref();
}

/**
 * True if the script exists. The npm package contains bundled programs, without the scripts that need development
 * tools.
 */
const hasProgram = (root: string, script: string): boolean =>
  [script, script.replace(/\.ts$/, ".mjs")].some((file) => existsSync(join(root, file)));

/** Returns Node.js and the encoder node's script, to run the node without the command line. */
export function nodeCommand(): [node: string, script: string] {
  const root = findRepository();
  const source = join(root, "encoder-node", "main.ts");
  if (existsSync(source)) return [process.execPath, source];
  return [packagedNode(root), join(root, "encoder-node", "main.mjs")];
}

/** Returns the Node.js to run nodes with, as local/bootstrap.mjs does: the command line may run in an older version. */
function packagedNode(root: string): string {
  try {
    return createRequire(join(root, "package.json")).resolve(`node-${process.platform}-${process.arch}/bin/node`);
  } catch {
    return process.execPath; // The optional dependency is not installed.
  }
}

/**
 * Returns the folder of the repository or of the npm package `copra` around this file. Throws if only the command line
 * is installed.
 */
export function findRepository(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, "local", "bootstrap.mjs"))) return folder;
    if (folder === dirname(folder)) break;
  }
  throw notHere();
}

const notHere = (): CommandError =>
  new CommandError(
    EXIT.usage,
    "This command needs Copra's repository: clone it, and run npm run copra -- with the same arguments there",
  );
