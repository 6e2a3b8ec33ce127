// What earlier nodes have found out about this machine's ffmpeg: each node of a test would try all encoders again,
// which takes three seconds of processor time.
import { copyFileSync, existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../../local/home/constants.ts";

/** A node's own file (encoder-node/main.ts), which it does not read for another build. */
const NAME = "encoders.json";
const KNOWN = join(ROOT, "node_modules/.cache/copra", NAME);

/** Gives a node what is known, before it starts. */
export function giveKnownEncoders(workFolder: string): void {
  mkdirSync(workFolder, { recursive: true });
  if (existsSync(KNOWN)) copyFileSync(KNOWN, join(workFolder, NAME));
}

/** Keeps what a node has found out, after it has started. */
export function keepKnownEncoders(workFolder: string): void {
  const found = join(workFolder, NAME);
  if (!existsSync(found)) return;
  mkdirSync(dirname(KNOWN), { recursive: true });
  const unfinished = `${KNOWN}.${process.pid}`;
  copyFileSync(found, unfinished);
  renameSync(unfinished, KNOWN);
}
