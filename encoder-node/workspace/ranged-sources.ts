// Sources that are read by ranges. All tasks of this node that read the same source share a block cache. All sources
// share a proxy.
import { AppError } from "#shared/errors.ts";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import type { BlockCache } from "../source/ranges/block-cache.ts";
import { type HeldCache, SharedBlockCaches } from "../source/ranges/block-cache-sharing.ts";
import { type RangeInput, type RangeProxy, startRangeProxy } from "../source/ranges/range-proxy.ts";
import type { SourcePiece } from "../source/ranges/source-pieces.ts";

/** Returns the pieces of a source with valid URLs. */
export type LocateSource = () => Promise<readonly SourcePiece[]>;

type OpenOptions = { readonly allow: AllowPrivate; readonly allWithinMs?: number };

export class RangedSources {
  readonly #caches: SharedBlockCaches;
  /**
   * By key: the leases that may request URLs now. The cache outlives a lease, and an ended lease cannot request URLs.
   */
  readonly #locators = new Map<string, Set<LocateSource>>();
  #proxy: Promise<RangeProxy> | null = null;

  /** Caches blocks in `folder`, and keeps them for `keepMs` after the last use. */
  constructor(folder: string, keepMs?: number) {
    this.#caches = new SharedBlockCaches(folder, { keepMs });
  }

  /**
   * Opens a view of a source for a run, until the view is closed. `key` identifies the version of the source. `locate`
   * is called again when its URLs have expired. `allow`: the policy for these URLs. With `allWithinMs` the whole source
   * is read as fast as it arrives, even before the run needs it: its URL may expire before the run ends. A longer read
   * fails with `input_timeout`.
   */
  async open(key: string, locate: LocateSource, { allow, allWithinMs }: OpenOptions): Promise<RangeInput> {
    this.#locators.set(key, (this.#locators.get(key) ?? new Set()).add(locate));
    let held: HeldCache | null = null;
    try {
      const refresh = (): Promise<readonly SourcePiece[]> => firstResult(this.#locators.get(key) ?? []);
      held = await this.#caches.acquire(key, { pieces: await locate(), refresh, allow });
      const { release, cache } = held;
      const input = (await this.#listen()).open(cache);
      const closing = new AbortController();
      const late = allWithinMs === undefined ? null : readWithin(allWithinMs, cache, closing.signal);
      const close = once(() => {
        closing.abort();
        input.close();
        release();
        this.#forget(key, locate);
      });
      return { ...input, close, failed: late ? AbortSignal.any([input.failed, late]) : input.failed };
    } catch (error) {
      held?.release();
      this.#forget(key, locate);
      throw error;
    }
  }

  /** Stops the proxy and removes all caches. */
  async close(): Promise<void> {
    await (await this.#proxy)?.close();
    this.#proxy = null;
    await this.#caches.clear();
  }

  #listen(): Promise<RangeProxy> {
    this.#proxy ??= startRangeProxy().catch((error: unknown) => {
      this.#proxy = null;
      throw error;
    });
    return this.#proxy;
  }

  #forget(key: string, locate: LocateSource): void {
    const locators = this.#locators.get(key);
    locators?.delete(locate);
    if (locators?.size === 0) this.#locators.delete(key);
  }
}

type ReadSource = Pick<BlockCache, "sizeBytes" | "reader">;

/** Reads all of a source, until `closing` aborts. The result aborts when the read takes longer than `ms`. */
function readWithin(ms: number, source: ReadSource, closing: AbortSignal): AbortSignal {
  const late = new AbortController();
  const message = "The host of the input became too slow for the input to be read while it is encoded";
  const timer = setTimeout(() => late.abort(new AppError("input_timeout", message)), ms);
  closing.addEventListener("abort", () => clearTimeout(timer));
  void readAll(source, closing).then((isWhole) => isWhole && clearTimeout(timer));
  return late.signal;
}

const READ_BYTES = 256 * 1024;

/** False when a block cannot be read: the run that needs the block reports the reason. */
async function readAll(source: ReadSource, signal: AbortSignal): Promise<boolean> {
  const [reader, bytes] = [source.reader(), Buffer.allocUnsafe(READ_BYTES)];
  for (let at = 0; at < source.sizeBytes && !signal.aborted; ) {
    const length = await reader.read(bytes, at).catch(() => 0);
    if (length === 0) return false;
    at += length;
  }
  return !signal.aborted;
}

async function firstResult(locators: Iterable<LocateSource>): Promise<readonly SourcePiece[]> {
  let failure: unknown = new AppError("node_failed", "No lease reads the source any more");
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
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}
