// Runs wrangler.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { ROOT } from "../home/constants.ts";

export type WranglerResult = { readonly code: number; readonly stdout: string; readonly stderr: string };
/** `env` replaces the environment of this process. */
export type WranglerOptions = { readonly isShown?: boolean; readonly env?: NodeJS.ProcessEnv };

/** Runs wrangler. With `isShown`, its output appears at once, and it may ask the operator. */
export async function wrangler(
  args: readonly string[],
  { isShown = false, env = process.env }: WranglerOptions = {},
): Promise<WranglerResult> {
  const script = join(ROOT, "node_modules", "wrangler", "bin", "wrangler.js");
  const stdio = isShown ? (["inherit", "inherit", "pipe"] as const) : (["ignore", "pipe", "pipe"] as const);
  const child = spawn(process.execPath, [script, ...args], { cwd: ROOT, stdio: [...stdio], env });
  const [stdout, stderr]: [string[], string[]] = [[], []];
  child.stdout?.on("data", (data: Buffer) => stdout.push(data.toString()));
  child.stderr?.on("data", (data: Buffer) => {
    stderr.push(data.toString());
    if (isShown) process.stderr.write(data);
  });
  const [code] = await once(child, "close");
  return { code: typeof code === "number" ? code : 1, stdout: stdout.join(""), stderr: stderr.join("") };
}

/** The message of a failed run, without wrangler's frame around it. */
export function reasonOf({ stdout, stderr }: WranglerResult): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colors of a terminal
  const plain = (stderr.trim() || stdout.trim()).replaceAll(/\u001b\[[0-9;]*m/g, "");
  const lines = plain.split("\n").filter((line) => line.trim() !== "" && !/If you think this is a bug|🪵/u.test(line));
  return lines.map((line) => line.replace(/^.*\[ERROR\]\s*/, "").trim()).join(" ");
}
