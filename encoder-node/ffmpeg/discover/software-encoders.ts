// Finds the working software encoders by trial and caches them: the same build does not lose an encoder.
import { createHash } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import * as z from "zod";
import { SOFTWARE_ENCODERS, type SoftwareEncoder, softwareTrial } from "#shared/plan/encoders/software-encoders.ts";
import type { Tool } from "./locate.ts";
import { runTrials } from "./trial.ts";

export type SoftwareFinding = {
  readonly works: readonly SoftwareEncoder[];
  /** Reasons, as clauses, why the other encoders do not work. */
  readonly unusable: ReadonlyMap<SoftwareEncoder, string>;
};

/** The reason for an encoder that the build does not list. */
export const NOT_BUILT_IN = "not built in";

/**
 * Tries the encoders of the table that are in `listed`. `cacheFile` stores the working encoders. Failed encoders are
 * tried again at each start, because a loaded machine may have made them fail.
 */
export async function findSoftwareEncoders(
  ffmpeg: Tool,
  listed: ReadonlySet<string>,
  cacheFile: string,
): Promise<SoftwareFinding> {
  const key = await keyOf(ffmpeg);
  const known = await readCache(cacheFile, key);
  const untried = SOFTWARE_ENCODERS.filter((encoder) => listed.has(encoder) && !known.has(encoder));
  const unusable = new Map<SoftwareEncoder, string>();
  for (const encoder of SOFTWARE_ENCODERS) if (!listed.has(encoder)) unusable.set(encoder, NOT_BUILT_IN);
  for (const [encoder, result] of await runTrials(ffmpeg, untried, softwareTrial))
    if (!result.works) unusable.set(encoder, result.reason);
  const works = SOFTWARE_ENCODERS.filter((encoder) => !unusable.has(encoder));
  if (works.some((encoder) => !known.has(encoder))) await writeCache(cacheFile, { key, works });
  return { works, unusable };
}

const CacheEntry = z.object({ key: z.string(), works: z.array(z.string()) });
type CacheEntry = z.infer<typeof CacheEntry>;

/** Identifies the build and the trials. An update of either invalidates the cache. */
async function keyOf({ path, version }: Tool): Promise<string> {
  const { size, mtimeMs } = await stat(path);
  const trials = SOFTWARE_ENCODERS.map(softwareTrial);
  return createHash("sha256").update(JSON.stringify({ path, version, size, mtimeMs, trials })).digest("hex");
}

/** Empty when the file does not exist, cannot be parsed, or belongs to another build. */
async function readCache(file: string, key: string): Promise<ReadonlySet<string>> {
  try {
    const entry = CacheEntry.parse(JSON.parse(await readFile(file, "utf8")));
    return new Set(entry.key === key ? entry.works : []);
  } catch {
    return new Set();
  }
}

/** A failed write only costs the next start a second, so it is ignored. */
async function writeCache(file: string, entry: CacheEntry): Promise<void> {
  await writeFile(file, JSON.stringify(entry)).catch(() => undefined);
}
