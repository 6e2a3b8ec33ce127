// Runs the command line in its own process, as people do.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";

export const MAIN = join(import.meta.dirname, "..", "main.ts");

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** Returns an environment that names no service and keeps the command's files in `folder`. */
export const bareEnvironment = (folder: string): Record<string, string> => ({
  PATH: process.env.PATH ?? "",
  HOME: folder,
  COPRA_HOME: join(folder, "no-local-system"),
  XDG_CONFIG_HOME: join(folder, "config"),
  XDG_STATE_HOME: join(folder, "state"),
  // The compile cache saves a third of the time of a short command.
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? "",
});

export const startCli = (args: readonly string[], env: Record<string, string>): ChildProcessWithoutNullStreams =>
  spawn(process.execPath, [MAIN, ...args], { env });

/** Runs a command to its end. */
export async function runCli(args: readonly string[], env: Record<string, string>, input = ""): Promise<Ended> {
  const child = startCli(args, env);
  child.stdin.on("error", () => undefined).end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: child.exitCode, stdout, stderr };
}
