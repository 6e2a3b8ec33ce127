// Runs wrangler.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { ROOT } from "../home/constants.ts";

export type WranglerResult = { readonly code: number; readonly stdout: string; readonly stderr: string };
/** `env` adds to the environment of this process. */
export type WranglerOptions = { readonly show?: boolean; readonly env?: Readonly<Record<string, string>> };
export type Wrangler = (args: readonly string[], options?: WranglerOptions) => Promise<WranglerResult>;

/** Runs wrangler. With `show`, its output appears at once. */
export const wrangler: Wrangler = async (args, { show = false, env = {} } = {}) => {
  const script = join(ROOT, "node_modules", "wrangler", "bin", "wrangler.js");
  // The configuration already has the name from Cloudflare's builds.
  const { WRANGLER_CI_OVERRIDE_NAME: _, ...inherited } = process.env;
  const child = spawn(process.execPath, [script, ...args], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...inherited, ...env },
  });
  const [stdout, stderr]: [string[], string[]] = [[], []];
  child.stdout.on("data", (data: Buffer) => {
    stdout.push(data.toString());
    if (show) process.stdout.write(data);
  });
  child.stderr.on("data", (data: Buffer) => {
    stderr.push(data.toString());
    if (show) process.stderr.write(data);
  });
  const [code] = await once(child, "close");
  return { code: typeof code === "number" ? code : 1, stdout: stdout.join(""), stderr: stderr.join("") };
};

/** The message of a failed run, without wrangler's frame around it. */
export function reasonOf({ stdout, stderr }: WranglerResult): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colors of a terminal
  const plain = (stderr.trim() || stdout.trim()).replaceAll(/\u001b\[[0-9;]*m/g, "");
  const lines = plain.split("\n").filter((line) => line.trim() !== "" && !/If you think this is a bug|🪵/u.test(line));
  return lines.map((line) => line.replace(/^.*\[ERROR\]\s*/, "").trim()).join(" ");
}
