// Commands that end when this process is killed, even by SIGKILL, which leaves it no time to end them itself.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** util-linux's program that has the kernel kill what it starts as soon as the parent is gone. */
const TIE = ["setpriv", "--pdeathsig", "KILL", "--"] as const;

let available: Promise<boolean> | null = null;

/**
 * What to put before a command. Empty where the system lacks the means (macOS, Windows, a busybox): there a command
 * outlives a killed node until it is done, in a folder that the node's next start removes.
 */
export async function tiePrefix(): Promise<readonly string[]> {
  available ??= promisify(execFile)(TIE[0], [...TIE.slice(1), "true"]).then(
    () => true,
    () => false,
  );
  return (await available) ? TIE : [];
}
