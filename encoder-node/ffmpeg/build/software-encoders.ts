// The software encoders that really work, with a memory of those that did: what a build could once, it can again.
import { createHash } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import * as z from "zod";
import { SOFTWARE_ENCODERS, type SoftwareEncoder, softwareTrial } from "#shared/plan/encoders/encoders.ts";
import type { Tool } from "./locate.ts";
import { runTrials } from "./trial.ts";

export type SoftwareFinding = {
  readonly works: readonly SoftwareEncoder[];
  /** Why each of the others does not, in a clause. */
  readonly refused: ReadonlyMap<SoftwareEncoder, string>;
};

/** Why an encoder that is not listed does not work. */
export const BUILT_WITHOUT = "it was built without";

/**
 * Tries those encoders of the table that are in `listed`. `cacheFile` keeps the ones that worked; the others are tried
 * again at each start, because it may have been a loaded machine that made them fail.
 */
export async function findSoftwareEncoders(
  ffmpeg: Tool,
  listed: ReadonlySet<string>,
  cacheFile: string,
): Promise<SoftwareFinding> {
  const key = await keyOf(ffmpeg);
  const known = await recall(cacheFile, key);
  const untried = SOFTWARE_ENCODERS.filter((encoder) => listed.has(encoder) && !known.has(encoder));
  const refused = new Map<SoftwareEncoder, string>();
  for (const encoder of SOFTWARE_ENCODERS) if (!listed.has(encoder)) refused.set(encoder, BUILT_WITHOUT);
  for (const [encoder, result] of await runTrials(ffmpeg, untried, softwareTrial))
    if (!result.works) refused.set(encoder, result.reason);
  const works = SOFTWARE_ENCODERS.filter((encoder) => !refused.has(encoder));
  if (works.some((encoder) => !known.has(encoder))) await remember(cacheFile, { key, works });
  return { works, refused };
}

const Remembered = z.object({ key: z.string(), works: z.array(z.string()) });
type Remembered = z.infer<typeof Remembered>;

/** Names the build and the trials: an update of either makes what is remembered worthless. */
async function keyOf({ path, version }: Tool): Promise<string> {
  const { size, mtimeMs } = await stat(path);
  const trials = SOFTWARE_ENCODERS.map(softwareTrial);
  return createHash("sha256").update(JSON.stringify({ path, version, size, mtimeMs, trials })).digest("hex");
}

/** Empty when there is no such file, nothing that can be read in it, or another build's. */
async function recall(file: string, key: string): Promise<ReadonlySet<string>> {
  try {
    const remembered = Remembered.parse(JSON.parse(await readFile(file, "utf8")));
    return new Set(remembered.key === key ? remembered.works : []);
  } catch {
    return new Set();
  }
}

/** A disk that takes nothing costs the next start a second; it is no reason not to start. */
async function remember(file: string, remembered: Remembered): Promise<void> {
  await writeFile(file, JSON.stringify(remembered)).catch(() => undefined);
}
