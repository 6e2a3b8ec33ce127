import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

/** Tries seeds in a separate process, whose clock and network are replaced; returns its output. */
export async function trySeeds(from: number, count: number, env: Record<string, string> = {}): Promise<string> {
  const argv = ["test/simulation/run-seeds.ts", "--from", String(from), "--count", String(count)];
  const child = spawn(process.execPath, argv, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [printed, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const isWhole = printed.includes(`${count} seeds from ${from}`);
  if (!isWhole) throw new Error(`The seeds from ${from} did not end: ${printed}${errors}`);
  return printed;
}
