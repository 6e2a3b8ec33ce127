// The source of a task on this node's disk.
import { isFolderUrl } from "#shared/job/folder-url.ts";
import type { LocatedSource } from "#shared/protocol/tasks.ts";
import { linkSource } from "../folders/link-source.ts";
import { isWorthRanges } from "../source/fetch/slow-transfer.ts";
import type { SourceFile } from "../source/fetch/source-file.ts";
import type { SecretHeaders } from "../source/fetch/source-request.ts";
import type { AcquireOptions, HeldFile, HeldSource, OpenOptions } from "./source-cache.ts";
import type { TaskDeps } from "./task-deps.ts";

/** A retried job fetches its source again. */
const keyOf = ({ assignment: { jobId, round } }: TaskDeps): string => `${jobId}-${round}`;

type Located = { readonly sourceUrl: string; readonly sourceHeaders?: SecretHeaders | undefined };

function optionsOf({ sourceUrl: url, sourceHeaders: secretHeaders }: Located, deps: TaskDeps): OpenOptions {
  const pieces = [{ url, secretHeaders, sizeBytes: null }];
  return { locate: async () => pieces, allow: deps.allowSource, maxBytes: deps.maxSourceBytes };
}

/** The file of the job's source, as far as it has arrived. */
export const openSource = (located: Located, deps: TaskDeps): Promise<HeldFile> =>
  deps.sources.open(keyOf(deps), optionsOf(located, deps));

/**
 * Returns the job's source on this node's disk. Fetches the source if necessary, with progress. A source in a folder of
 * the operator stays there. Throws as `SourceCache.acquire` and `linkSource`.
 */
export async function acquireSource(
  located: LocatedSource,
  deps: TaskDeps,
  { startsEarly }: Pick<AcquireOptions, "startsEarly"> = {},
): Promise<HeldSource> {
  const onProgress = (fraction: number): void => deps.progress("transferring", fraction);
  onProgress(0);
  if (isFolderUrl(located.sourceUrl)) return deps.trace.step("fetch", () => linkSource(located.sourceUrl, deps));
  const how = { signal: deps.signal, onProgress, startsEarly };
  return deps.trace.step("fetch", () => deps.sources.acquire(keyOf(deps), optionsOf(located, deps), how));
}

/**
 * Like `acquireSource`, but may return a source whose rest still arrives. That requires that the rest takes long, that
 * its host has responded to a second concurrent request, and that `mayStart` allows it: some URLs work for a single
 * request, and some hosts allow a single connection.
 */
export async function acquireUnlessSlow(
  located: LocatedSource,
  deps: TaskDeps,
  mayStart: (file: SourceFile) => boolean = () => true,
): Promise<HeldSource> {
  const startsEarly = (file: SourceFile): boolean =>
    file.hasRanges && isWorthRanges(file.transfer, file.validForMs) && mayStart(file);
  const source = await acquireSource(located, deps, { startsEarly });
  if (source.arriving) deps.log.info("work started on a slow source before all of it has arrived");
  return source;
}
