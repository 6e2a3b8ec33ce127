// The transfer of a source to a file: attempts, retries, and checks of the responses.
import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Agent } from "undici";
import { AppError } from "#shared/errors.ts";
import { guardedAgent } from "../../network/address-guard.ts";
import type { Fetch, ResumeState } from "./fetch-options.ts";
import { type KnownFile, readResponse, validatorOf } from "./read-response.ts";
import { checkDiskSpace, diskFailure, writeAt } from "./source-disk.ts";
import {
  addressNotAllowed,
  connectionBroken,
  connectionFailure,
  httpFailure,
  mayHaveExpired,
  refusedMidway,
  SlowSource,
} from "./source-failure.ts";
import { requestSource, type SourceResponse } from "./source-request.ts";
import { canRetry, DEFAULT_TIMEOUTS, pauseMs, type SourceTimeouts, watchRate, watchTime } from "./source-timeouts.ts";

/** Bytes between two checks of the disk space: other processes write to the disk too. */
const DISK_CHECK_BYTES = 16 * 1024 * 1024;
/** New bytes that restore all retries. With fewer, a few bytes per attempt would continue forever. */
const PROGRESS_BYTES = 1024 * 1024;

export class SourceTransfer {
  readonly #fetch: Fetch;
  readonly #timeouts: SourceTimeouts;
  readonly #state: ResumeState;
  readonly #file: FileHandle;
  readonly #agent: Agent;
  readonly #checkTime: (host: string) => void;
  /** Connections that were reset. */
  #resets = 0;
  #host = "";
  /** True if the server has sent some of the file, even if that is lost by now. */
  #hasResponded: boolean;

  constructor(fetch: Fetch, state: ResumeState, file: FileHandle) {
    const { allow, timeouts = DEFAULT_TIMEOUTS } = fetch;
    this.#fetch = fetch;
    this.#timeouts = timeouts;
    this.#state = state;
    this.#file = file;
    this.#hasResponded = state.received > 0;
    this.#checkTime = watchTime(timeouts, state.spentMs);
    const onReset = (): void => {
      this.#resets += 1;
    };
    this.#agent = guardedAgent({ allow, refuse: addressNotAllowed, onReset });
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  /** Returns the size of the file. */
  async run(): Promise<number> {
    const { signal } = this.#fetch;
    let furthest = this.#state.received;
    let credited = this.#state.received;
    for (let failures = 1; ; failures++) {
      try {
        await this.#attempt();
        return this.#state.received;
      } catch (error) {
        signal.throwIfAborted();
        const failure = connectionFailure(error, this.#host);
        furthest = Math.max(furthest, this.#state.received);
        if (furthest - credited >= PROGRESS_BYTES && !(failure instanceof SlowSource)) {
          credited = furthest;
          failures = 1;
        }
        if (!canRetry(failure, failures, this.#hasResponded)) throw failure;
        await sleep(pauseMs(failure, failures, this.#timeouts), undefined, { signal }).catch(() => undefined);
        signal.throwIfAborted();
        this.#checkTime(this.#host);
      }
    }
  }

  /** Sends a single request and writes its response. */
  async #attempt(): Promise<void> {
    const { url, secretHeaders, allow, signal } = this.#fetch;
    if (this.#state.validator === null) await this.#startOver();
    const headers = rangeHeaders(this.#state);
    const resets = this.#resets;
    const { stallMs } = this.#timeouts;
    const agent = this.#agent;
    const response = await requestSource({ url, headers, secretHeaders, agent, allow, stallMs, signal });
    this.#host = response.host;
    try {
      await this.#applyHeaders(response);
      await this.#writeBody(response);
      if (endsByClosing(response) && this.#resets > resets) throw connectionBroken(response.host);
    } finally {
      // With a listener, because the body emits an error when it is destroyed early.
      response.body.on("error", () => undefined).destroy();
    }
  }

  async #startOver(): Promise<void> {
    await this.#file.truncate(0).catch(diskFailure);
    this.#state.received = 0;
    this.#state.totalBytes = null;
  }

  async #applyHeaders(response: SourceResponse): Promise<void> {
    const state = this.#state;
    const reading = readResponse(response.statusCode, response.headers, state);
    if (reading.kind === "http-error") {
      const failure = httpFailure(response);
      throw this.#hasResponded && mayHaveExpired(failure) ? refusedMidway(response) : failure;
    }
    if (reading.kind === "range-mismatch") {
      state.validator = null;
      const message = `The host \`${response.host}\` of the input changed the file while it was read.`;
      throw new AppError("input_unreachable", message);
    }
    this.#hasResponded = true;
    if (reading.from === 0) {
      await this.#startOver();
      state.validator = validatorOf(response.headers);
    }
    state.totalBytes = reading.totalBytes ?? state.totalBytes;
    const supportsRanges = response.statusCode === 206 || /\bbytes\b/.test(String(response.headers["accept-ranges"]));
    state.canResume = state.validator !== null && supportsRanges;
  }

  async #writeBody({ body, host }: SourceResponse): Promise<void> {
    const { onProgress } = this.#fetch;
    const state = this.#state;
    this.#checkSize(state.totalBytes ?? 0);
    await this.#checkDisk();
    let uncheckedBytes = 0;
    onProgress?.(state.received, state.totalBytes);
    const checkRate = watchRate(this.#timeouts, host);
    for await (const chunk of body as AsyncIterable<Buffer>) {
      this.#checkSize(state.received + chunk.length);
      uncheckedBytes += chunk.length;
      if (uncheckedBytes >= DISK_CHECK_BYTES) {
        await this.#checkDisk();
        uncheckedBytes = 0;
      }
      await writeAt(this.#file, chunk, state.received);
      state.received += chunk.length;
      checkRate(chunk.length);
      this.#checkTime(host);
      onProgress?.(state.received, state.totalBytes);
    }
    if (state.totalBytes === null || state.received === state.totalBytes) return;
    // More bytes than announced belong to no version that could be completed.
    if (state.received > state.totalBytes) state.validator = null;
    const sizes = `${state.received} of ${state.totalBytes} bytes`;
    throw new AppError("input_unreachable", `The host \`${host}\` of the input sent ${sizes}; try again later.`);
  }

  #checkSize(bytes: number): void {
    const { maxBytes } = this.#fetch;
    if (bytes <= maxBytes) return;
    throw new AppError("input_too_large", `The input is larger than ${maxBytes} bytes, the maximum of this node.`);
  }

  #checkDisk(): Promise<void> {
    const { disk, destination, freeSpace } = this.#fetch;
    const { received, totalBytes } = this.#state;
    const needed = (totalBytes ?? received) - received;
    return disk ? disk.reserve(needed) : checkDiskSpace(dirname(destination), needed, freeSpace);
  }
}

/** True if only the connection's end marks the end of the body (RFC 9112 §6.3). undici checks all other bodies. */
const endsByClosing = ({ headers }: SourceResponse): boolean =>
  headers["content-length"] === undefined && headers["transfer-encoding"] === undefined;

/** No range from 0: some servers respond to a range of the whole file in unusual ways. */
function rangeHeaders({ received, validator }: KnownFile): Record<string, string> {
  return received > 0 && validator !== null ? { range: `bytes=${received}-`, "if-range": validator } : {};
}
