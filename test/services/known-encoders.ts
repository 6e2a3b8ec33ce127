// Results of earlier nodes about this machine's ffmpeg. Otherwise each node of a test would try all encoders, which
// takes three seconds of processor time.
import { copyFileSync, existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../../local/home/constants.ts";

/** A node's own file (encoder-node/main.ts). The node ignores a file of another build. */
const NAME = "encoders.json";
const KNOWN = join(ROOT, "node_modules/.cache/copra", NAME);

/** Copies the known results to a node, before its start. */
export function giveKnownEncoders(workFolder: string): void {
  mkdirSync(workFolder, { recursive: true });
  if (existsSync(KNOWN)) copyFileSync(KNOWN, join(workFolder, NAME));
}

/** Keeps the results of a node, after its start. */
export function keepKnownEncoders(workFolder: string): void {
  const path = join(workFolder, NAME);
  if (!existsSync(path)) return;
  mkdirSync(dirname(KNOWN), { recursive: true });
  const unfinished = `${KNOWN}.${process.pid}`;
  copyFileSync(path, unfinished);
  renameSync(unfinished, KNOWN);
}
