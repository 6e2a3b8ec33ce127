// Brings a source to this node's disk: resumed after dropped connections, and complete or not at all.
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Dispatcher } from "undici";
import { AppError } from "#shared/errors.ts";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import { guardedAgent } from "./address-guard.ts";
import { type Known, readAnswer, validatorOf } from "./read-response.ts";
import { checkRoom, type DiskShare, diskFailure, type Room, writeAt } from "./source-disk.ts";
import {
  addressRefusal,
  brokenOff,
  connectionFailure,
  httpFailure,
  lockedOut,
  mayBeExpired,
  TooSlow,
} from "./source-failure.ts";
import { requestSource, type SourceAnswer } from "./source-request.ts";
import { mayTryAgain, PATIENCE, type Patience, pauseMs, watchRate, watchSlow, watchTime } from "./source-timeouts.ts";

export type Fetch = {
  readonly url: string;
  /** File to write; what it held is lost, unless `part` describes it. After a failure it holds a part. */
  readonly destination: string;
  /** What an earlier fetch left in the destination. It is kept up to date, so that a later one can go on. */
  readonly part?: SourcePart | undefined;
  readonly allow: AllowPrivate;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Falls back to 0 when a server cannot resume; `totalBytes` is null when it does not say. */
  readonly onProgress?: ((receivedBytes: number, totalBytes: number | null) => void) | undefined;
  /** Called every few seconds once the source has come slowly for long, if a later fetch could go on where this one ends. */
  readonly onSlow?: (() => void) | undefined;
  readonly patience?: Patience | undefined;
  /** What the source may take of a disk that it shares with others; `room` is not asked then. */
  readonly disk?: DiskShare | undefined;
  /** For tests; else what the disk has free, less a reserve. */
  readonly room?: Room | undefined;
};

/** How much may come before the disk's room is looked at again: others write to it too. */
const LOOK_EVERY_BYTES = 16 * 1024 * 1024;
/** New ground that counts as progress and gives all retries back. A few bytes a try would go on for ever. */
const PROGRESS_BYTES = 1024 * 1024;

/** What the requests of one fetch go through, and how often a connection of it was reset. */
type Line = { readonly agent: Dispatcher; readonly resets: () => number };
/** How far a source has come. */
export type SourcePart = {
  received: number;
  totalBytes: number | null;
  validator: string | null;
  /** Whether its host names versions and answers range requests: then nothing is lost when the transfer stops. */
  canResume: boolean;
  /** All fetches of it together. */
  spentMs: number;
};
type Transfer = SourcePart & {
  host: string;
  /** Whether the server has begun to give the file, be it lost by now. */
  hasAnswered: boolean;
  readonly checkTime: ReturnType<typeof watchTime>;
  readonly checkSlow: ReturnType<typeof watchSlow>;
};

export const noPart = (): SourcePart => ({
  ...{ received: 0, totalBytes: null, validator: null, canResume: false, spentMs: 0 },
});

/**
 * Downloads a source and answers its size, which is checked against what the server announced.
 * Throws AppError: `input_http_<status>`, `input_unreachable`, `input_timeout` (silent or too slow), `input_too_large`,
 * `input_address_not_allowed`, `node_failed` (the disk fails, or has no room), `node_busy` (none beside other sources). An
 * abort rejects with the signal's reason.
 */
export async function fetchSource(fetch: Fetch): Promise<{ sizeBytes: number }> {
  fetch.signal.throwIfAborted();
  const { part = noPart() } = fetch;
  const file = await open(fetch.destination, part.received > 0 ? "r+" : "w", 0o600).catch(diskFailure);
  const since = performance.now();
  let resets = 0;
  const onReset = (): void => {
    resets += 1;
  };
  const agent = guardedAgent({ allow: fetch.allow, refuse: addressRefusal, onReset });
  try {
    return { sizeBytes: await download(file, { agent, resets: () => resets }, { ...fetch, part }) };
  } finally {
    part.spentMs += performance.now() - since;
    fetch.disk?.settle();
    await agent.destroy();
    await file.close();
  }
}

async function download(file: FileHandle, line: Line, fetch: Fetch & { readonly part: SourcePart }): Promise<number> {
  const { signal, patience = PATIENCE, part } = fetch;
  const checkTime = watchTime(patience, part.spentMs);
  const checkSlow = watchSlow(patience, () => part.canResume && fetch.onSlow?.());
  const hasAnswered = part.received > 0;
  const transfer: Transfer = Object.assign(part, { host: "", hasAnswered, checkTime, checkSlow });
  let furthest = transfer.received;
  let credited = transfer.received;
  for (let failures = 1; ; failures++) {
    try {
      await attempt(transfer, file, line, fetch);
      return transfer.received;
    } catch (error) {
      signal.throwIfAborted();
      const failure = connectionFailure(error, transfer.host);
      furthest = Math.max(furthest, transfer.received);
      if (furthest - credited >= PROGRESS_BYTES && !(failure instanceof TooSlow)) {
        credited = furthest;
        failures = 1;
      }
      if (!mayTryAgain(failure, failures, transfer.hasAnswered)) throw failure;
      await sleep(pauseMs(failure, failures, patience), undefined, { signal }).catch(() => undefined);
      signal.throwIfAborted();
      checkTime(transfer.host);
    }
  }
}

/** One request, and all that comes of it; `transfer` stands where it ended. */
async function attempt(transfer: Transfer, file: FileHandle, line: Line, fetch: Fetch): Promise<void> {
  const { url, allow, signal, patience = PATIENCE } = fetch;
  if (transfer.validator === null) await startOver(transfer, file);
  const headers = rangeHeaders(transfer);
  const resets = line.resets();
  const answer = await requestSource({ url, headers, agent: line.agent, allow, stallMs: patience.stallMs, signal });
  transfer.host = answer.host;
  try {
    await takeAnswer(answer, transfer, file);
    await takeBody(answer, transfer, file, fetch);
    if (endsByClosing(answer) && line.resets() > resets) throw brokenOff(answer.host);
  } finally {
    // An error listener, because ending a body early is an error to it.
    answer.body.on("error", () => undefined).destroy();
  }
}

/** Whether nothing but the connection's end tells where the body's is (RFC 9112 §6.3): all others are checked by undici. */
const endsByClosing = ({ headers }: SourceAnswer): boolean =>
  headers["content-length"] === undefined && headers["transfer-encoding"] === undefined;

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
    const failure = httpFailure(answer);
    throw transfer.hasAnswered && mayBeExpired(failure) ? lockedOut(answer) : failure;
  }
  if (reading.kind === "misfit") {
    transfer.validator = null;
    throw new AppError(
      "input_unreachable",
      `The host \`${answer.host}\` of the input changed the file while it was read.`,
    );
  }
  transfer.hasAnswered = true;
  if (reading.from === 0) {
    await startOver(transfer, file);
    transfer.validator = validatorOf(answer.headers);
  }
  transfer.totalBytes = reading.totalBytes ?? transfer.totalBytes;
  const doesRanges = answer.statusCode === 206 || /\bbytes\b/.test(String(answer.headers["accept-ranges"]));
  transfer.canResume = transfer.validator !== null && doesRanges;
}

async function takeBody(answer: SourceAnswer, transfer: Transfer, file: FileHandle, fetch: Fetch): Promise<void> {
  const { maxBytes, onProgress, patience = PATIENCE } = fetch;
  const refuseAbove = (bytes: number): void => {
    if (bytes <= maxBytes) return;
    throw new AppError("input_too_large", `The input is larger than ${maxBytes} bytes, the most this node takes.`);
  };
  refuseAbove(transfer.totalBytes ?? 0);
  const folder = dirname(fetch.destination);
  const lookAtDisk = (): Promise<void> => {
    const needed = (transfer.totalBytes ?? transfer.received) - transfer.received;
    return fetch.disk ? fetch.disk.need(needed) : checkRoom(folder, needed, fetch.room);
  };
  await lookAtDisk();
  let unseenBytes = 0;
  onProgress?.(transfer.received, transfer.totalBytes);
  const checkRate = watchRate(patience, answer.host);
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    refuseAbove(transfer.received + chunk.length);
    unseenBytes += chunk.length;
    if (unseenBytes >= LOOK_EVERY_BYTES) {
      await lookAtDisk();
      unseenBytes = 0;
    }
    await writeAt(file, chunk, transfer.received);
    transfer.received += chunk.length;
    checkRate(chunk.length);
    transfer.checkSlow(chunk.length);
    transfer.checkTime(answer.host);
    onProgress?.(transfer.received, transfer.totalBytes);
  }
  if (transfer.totalBytes === null || transfer.received === transfer.totalBytes) return;
  // More than was announced belongs to no version that could be completed.
  if (transfer.received > transfer.totalBytes) transfer.validator = null;
  const sizes = `${transfer.received} of ${transfer.totalBytes} bytes`;
  throw new AppError("input_unreachable", `The host \`${answer.host}\` of the input sent ${sizes}; try again later.`);
}
