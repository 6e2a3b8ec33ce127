// Serves sources to ffmpeg through one proxy, while they are fetched by ranges.
import { AppError } from "#shared/errors.ts";
import type { SourceFile } from "../source/fetch/source-file.ts";
import { type RangeInput, type RangeProxy, startRangeProxy } from "../source/ranges/range-proxy.ts";
import type { OpenOptions, SourceCache } from "./source-cache.ts";

export class RangedSources {
  readonly #sources: Pick<SourceCache, "open">;
  #proxy: Promise<RangeProxy> | null = null;

  constructor(sources: Pick<SourceCache, "open">) {
    this.#sources = sources;
  }

  /**
   * Opens a view of a source for a run, until the view is closed. `key` identifies the version of the source. Throws as
   * `SourceCache.open` does.
   */
  async open(key: string, options: OpenOptions): Promise<RangeInput> {
    const { file, release } = await this.#sources.open(key, options);
    try {
      const input = await this.serve(file);
      const close = (): void => {
        input.close();
        release();
      };
      return { ...input, close };
    } catch (error) {
      release();
      throw error;
    }
  }

  /**
   * Opens a view of a file that its caller holds. With `allWithinMs`, the whole source is fetched as fast as it arrives,
   * even before the run needs it: its URL may expire before the run ends. A longer fetch fails with `input_timeout`.
   */
  async serve(file: SourceFile, { allWithinMs }: { readonly allWithinMs?: number } = {}): Promise<RangeInput> {
    const unhold = file.hold();
    const proxy = await this.#listen().catch((error: unknown) => {
      unhold();
      throw error;
    });
    const input = proxy.open(file);
    const closing = new AbortController();
    const late = allWithinMs === undefined ? null : fetchWithin(allWithinMs, file, closing.signal);
    const close = (): void => {
      closing.abort();
      input.close();
      unhold();
    };
    return { ...input, close, failed: late ? AbortSignal.any([input.failed, late]) : input.failed };
  }

  /** Stops the proxy. */
  async close(): Promise<void> {
    await (await this.#proxy)?.close();
    this.#proxy = null;
  }

  #listen(): Promise<RangeProxy> {
    this.#proxy ??= startRangeProxy().catch((error: unknown) => {
      this.#proxy = null;
      throw error;
    });
    return this.#proxy;
  }
}

/**
 * Fetches all of a source, until `closing` aborts. The result aborts when that takes longer than `ms`. A read that fails
 * reports the reason to its run.
 */
function fetchWithin(ms: number, file: SourceFile, closing: AbortSignal): AbortSignal {
  const late = new AbortController();
  const message = "The host of the input became too slow for the input to be read while it is encoded";
  const timer = setTimeout(() => late.abort(new AppError("input_timeout", message)), ms);
  closing.addEventListener("abort", () => clearTimeout(timer));
  void file.whole(closing).then(
    () => clearTimeout(timer),
    () => undefined,
  );
  return late.signal;
}
