import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

/** Tries seeds; returns what the run prints, with the story of the seed `story`. */
export const trySeeds = (from: number, count: number, story = 0): Promise<string> =>
  runSimulation(
    ["test/simulation/run-seeds.ts", ...["--from", from, "--count", count, "--story", story].map(String)],
    `${count} seeds from ${from}`,
  );

/** Tries a share, such as `1/40`, of all single faults; returns what the run prints. */
export const tryFaults = (share: string): Promise<string> =>
  runSimulation(["test/simulation/run-faults.ts", "--share", share], `share ${share}`);

/** Runs a script in a separate process, whose clock and network it replaces. Throws if it does not print its end. */
async function runSimulation(argv: readonly string[], end: string): Promise<string> {
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "pipe"] });
  const [printed, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (!printed.includes(end)) throw new Error(`${argv.join(" ")} did not end: ${printed}${errors}`);
  return printed;
}
