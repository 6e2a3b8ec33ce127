// Sources that are read by ranges: one cache for all tasks that read one of them here, one proxy for all of this node.

import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import type { TaskOf } from "#shared/protocol/protocol.ts";
import { type HeldCache, shareBlockCaches } from "../source/ranges/block-cache-sharing.ts";
import {
  RANGE_INPUT_OPTIONS,
  type RangeInput,
  type RangeProxy,
  startRangeProxy,
} from "../source/ranges/range-proxy.ts";
import type { SourcePiece } from "../source/ranges/range-reader.ts";
import { scratchUrls } from "./scratch.ts";
import type { TaskDeps } from "./task-deps.ts";

/** Where a source lies, with URLs of now. */
export type Locate = () => Promise<readonly SourcePiece[]>;

export interface RangedSources {
  /**
   * One run's view of a source, until it is closed. `key` names the version of it that is read; `locate` is asked again when
   * URLs have expired.
   */
  open(key: string, locate: Locate): Promise<RangeInput>;
  /** Removes everything. */
  close(): Promise<void>;
}

/** What was read lies in `folder`. */
export function createRangedSources(folder: string, allow: AllowPrivate, keepMs?: number): RangedSources {
  const caches = shareBlockCaches(folder, { keepMs });
  /** By key: those who may ask for URLs now. A lease that has ended may not, and the cache outlives leases. */
  const locators = new Map<string, Set<Locate>>();
  let proxy: Promise<RangeProxy> | null = null;

  const listening = (): Promise<RangeProxy> => {
    proxy ??= startRangeProxy().catch((error: unknown) => {
      proxy = null;
      throw error;
    });
    return proxy;
  };

  const forget = (key: string, locate: Locate): void => {
    const others = locators.get(key);
    others?.delete(locate);
    if (others?.size === 0) locators.delete(key);
  };

  return {
    async open(key, locate) {
      locators.set(key, (locators.get(key) ?? new Set()).add(locate));
      let held: HeldCache | null = null;
      try {
        const refresh = (): Promise<readonly SourcePiece[]> => anyOf(locators.get(key) ?? []);
        held = await caches.acquire(key, { pieces: await locate(), refresh, allow });
        const { release, cache } = held;
        const input = (await listening()).open(cache);
        const close = once(() => {
          input.close();
          release();
          forget(key, locate);
        });
        return { ...input, close };
      } catch (error) {
        held?.release();
        forget(key, locate);
        throw error;
      }
    },
    async close() {
      await (await proxy)?.close();
      proxy = null;
      await caches.clear();
    },
  };
}

async function anyOf(locators: Iterable<Locate>): Promise<readonly SourcePiece[]> {
  let failure: unknown = new AppError("node_failed", "Nobody reads the source any more");
  for (const locate of locators) {
    try {
      return await locate();
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (!done) work();
    done = true;
  };
}

/** How the planner is told of a source that is read by ranges. */
export type ServedSource = { readonly source: string; readonly sourceOptions: readonly string[] };

/** The deps of work that reads the source: where it is served. */
export type ReadingDeps = TaskDeps & Pick<RangeInput, "network">;

type RangedTask = Pick<TaskOf<"sound">, "source" | "sourceUrl">;

/**
 * Does what reads the source of a task. The deps handed on abort as soon as that fails, and it is the reason then: what ffmpeg made
 * of a source that broke off is worth nothing.
 */
export async function readingSource<Value>(
  task: RangedTask,
  deps: TaskDeps,
  work: (served: ServedSource, deps: ReadingDeps) => Promise<Value>,
): Promise<Value> {
  const input = await openRanged(task, deps);
  const { failed, url: source, network, close } = input;
  try {
    const reading = { ...deps, network, signal: AbortSignal.any([deps.signal, failed]) };
    return await work({ source, sourceOptions: RANGE_INPUT_OPTIONS }, reading);
  } catch (error) {
    deps.signal.throwIfAborted();
    throw failed.aborted ? sourceFailure(task, failed.reason) : error;
  } finally {
    close();
  }
}

/** One view of the source; whoever opens it closes it. */
export function openRanged({ source, sourceUrl }: RangedTask, deps: TaskDeps): Promise<RangeInput> {
  const locate: Locate = async () => {
    if (source.from === "origin") {
      return [{ url: sourceUrl, sizeBytes: source.sizeBytes, validator: source.validator ?? null }];
    }
    const urls = await scratchUrls(
      source.pieces.map(({ name }) => name),
      deps,
    );
    return source.pieces.map(({ sizeBytes }, at) => ({ url: urls[at] ?? "", sizeBytes }));
  };
  // A job that is begun anew may have another source: its pieces, or size and version, tell them apart.
  return deps.rangedSources.open(JSON.stringify([deps.assignment.jobId, source]), locate);
}

/** What the operator's bucket does not give is not the fault of the client's source. */
const sourceFailure = ({ source }: RangedTask, reason: unknown): unknown =>
  source.from === "origin"
    ? reason
    : new AppError("node_failed", `The copy of the input cannot be read: ${messageOf(reason)}`, { cause: reason });
