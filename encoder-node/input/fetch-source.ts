// Brings a source to this node's disk: resumed after dropped connections, and complete or not at all.
import { type FileHandle, open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Dispatcher } from "undici";
import type { AllowPrivate } from "#shared/address-policy.ts";
import { type BackoffPolicy, backoffMs } from "#shared/backoff.ts";
import { AppError, errorTraits } from "#shared/errors.ts";
import { guardedAgent } from "./address-guard.ts";
import { type Known, readAnswer, validatorOf } from "./read-answer.ts";
import { diskFailure, writeAt } from "./source-disk.ts";
import { addressRefusal, connectionFailure, httpFailure } from "./source-failure.ts";
import { requestSource, type SourceAnswer } from "./source-request.ts";

export type Fetch = {
  readonly url: string;
  /** File to write; what it held is lost. After a failure it holds a part. */
  readonly destination: string;
  readonly allow: AllowPrivate;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Falls back to 0 when a server cannot resume; `totalBytes` is null when it does not say. */
  readonly onProgress?: ((receivedBytes: number, totalBytes: number | null) => void) | undefined;
  readonly patience?: Patience | undefined;
};

/** How long a server may send nothing, and how long to wait between tries. */
export type Patience = { readonly stallMs: number; readonly backoff: BackoffPolicy };
export const PATIENCE: Patience = { stallMs: 30_000, backoff: { firstMs: 500, maxMs: 10_000 } };

/** Tries after the first, in a row, of a source that has sent something, and of one that never has. */
export const RETRIES = 5;
export const RETRIES_UNSEEN = 1;
/** New ground that counts as progress and gives all retries back. A few bytes a try would go on for ever. */
const PROGRESS_BYTES = 1024 * 1024;

type Transfer = { received: number; totalBytes: number | null; validator: string | null; host: string };

/**
 * Downloads a source and answers its size, which is checked against what the server announced.
 * Throws AppError: `input_http_<status>`, `input_unreachable`, `input_timeout`, `input_too_large`,
 * `input_address_not_allowed`, `node_failed` (disk). An abort rejects with the signal's reason.
 */
export async function fetchSource(fetch: Fetch): Promise<{ sizeBytes: number }> {
  fetch.signal.throwIfAborted();
  const file = await open(fetch.destination, "w", 0o600).catch(diskFailure);
  const agent = guardedAgent({ allow: fetch.allow, refuse: addressRefusal });
  try {
    return { sizeBytes: await download(file, agent, fetch) };
  } finally {
    await agent.destroy();
    await file.close();
  }
}

async function download(file: FileHandle, agent: Dispatcher, fetch: Fetch): Promise<number> {
  const { signal, patience = PATIENCE } = fetch;
  const transfer: Transfer = { received: 0, totalBytes: null, validator: null, host: "" };
  let furthest = 0;
  let credited = 0;
  for (let failures = 1; ; failures++) {
    try {
      await attempt(transfer, file, agent, fetch);
      return transfer.received;
    } catch (error) {
      signal.throwIfAborted();
      const failure = connectionFailure(error, transfer.host);
      furthest = Math.max(furthest, transfer.received);
      if (furthest - credited >= PROGRESS_BYTES) {
        credited = furthest;
        failures = 1;
      }
      const { retryable, blame } = errorTraits(failure.code);
      const patient = failures <= (furthest > 0 ? RETRIES : RETRIES_UNSEEN);
      if (!retryable || blame !== "source" || !patient) throw failure;
      await sleep(backoffMs(failures, patience.backoff, Math.random), undefined, { signal }).catch(() => undefined);
      signal.throwIfAborted();
    }
  }
}

/** One request, and all that comes of it; `transfer` stands where it ended. */
async function attempt(transfer: Transfer, file: FileHandle, agent: Dispatcher, fetch: Fetch): Promise<void> {
  const { url, allow, signal, patience = PATIENCE } = fetch;
  if (transfer.validator === null) await startOver(transfer, file);
  const headers = rangeHeaders(transfer);
  const answer = await requestSource({ url, headers, agent, allow, stallMs: patience.stallMs, signal });
  transfer.host = answer.host;
  try {
    await takeAnswer(answer, transfer, file);
    await takeBody(answer, transfer, file, fetch);
  } finally {
    // An error listener, because ending a body early is an error to it.
    answer.body.on("error", () => undefined).destroy();
  }
}

/** Asked without a range at 0: some servers answer a range of everything in odd ways. */
function rangeHeaders({ received, validator }: Known): Record<string, string> {
  return received > 0 && validator !== null ? { range: `bytes=${received}-`, "if-range": validator } : {};
}

async function startOver(transfer: Transfer, file: FileHandle): Promise<void> {
  await file.truncate(0).catch(diskFailure);
  transfer.received = 0;
  transfer.totalBytes = null;
}

async function takeAnswer(answer: SourceAnswer, transfer: Transfer, file: FileHandle): Promise<void> {
  const reading = readAnswer(answer.statusCode, answer.headers, transfer);
  if (reading.kind === "http-error") {
    throw httpFailure(answer.statusCode, answer.host, answer.headers["x-amz-bucket-region"]);
  }
  if (reading.kind === "misfit") {
    transfer.validator = null;
    throw new AppError(
      "input_unreachable",
      `The host \`${answer.host}\` of the input changed the file while it was read.`,
    );
  }
  if (reading.from === 0) {
    await startOver(transfer, file);
    transfer.validator = validatorOf(answer.headers);
  }
  transfer.totalBytes = reading.totalBytes ?? transfer.totalBytes;
}

async function takeBody(answer: SourceAnswer, transfer: Transfer, file: FileHandle, fetch: Fetch): Promise<void> {
  const { maxBytes, onProgress } = fetch;
  const refuseAbove = (bytes: number): void => {
    if (bytes <= maxBytes) return;
    throw new AppError("input_too_large", `The input is larger than ${maxBytes} bytes, the most this node takes.`);
  };
  refuseAbove(transfer.totalBytes ?? 0);
  onProgress?.(transfer.received, transfer.totalBytes);
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    refuseAbove(transfer.received + chunk.length);
    await writeAt(file, chunk, transfer.received);
    transfer.received += chunk.length;
    onProgress?.(transfer.received, transfer.totalBytes);
  }
  if (transfer.totalBytes === null || transfer.received === transfer.totalBytes) return;
  // More than was announced belongs to no version that could be completed.
  if (transfer.received > transfer.totalBytes) transfer.validator = null;
  const sizes = `${transfer.received} of ${transfer.totalBytes} bytes`;
  throw new AppError("input_unreachable", `The host \`${answer.host}\` of the input sent ${sizes}; try again later.`);
}
