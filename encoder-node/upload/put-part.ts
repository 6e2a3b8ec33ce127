// Sends an upload part with its signed request, streamed, with retries.
import { randomBytes, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type Dispatcher, request } from "undici";
import { backoffMs } from "#shared/backoff.ts";
import { AppError } from "#shared/errors.ts";
import type { Logger } from "#shared/log.ts";
import { connectionFailureOf, storageUnreachable } from "#shared/network/storage-connection.ts";
import { isTransientStatus, storageRejection } from "#shared/network/storage-failure.ts";
import type { UploadPart } from "#shared/protocol/uploads.ts";
import { NODE_USER_AGENT } from "#shared/version.ts";
import type { Content } from "./content.ts";
import { formFailure, formFrame, framed } from "./form.ts";
import { FORM_RETRIES, NO_HOST_RETRIES, RETRIES, type RetryPolicy, type StorageHold } from "./retry-policy.ts";

export type PartUpload = {
  readonly content: Content;
  readonly part: UploadPart;
  readonly agent: Dispatcher;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Keeps the file after the usual retries. Without it they are all. */
  readonly hold?: StorageHold | undefined;
  /** Bytes of this part that were handed to the network in the current attempt. */
  readonly onProgress: (bytesSent: number) => void;
};

/** The storage did not accept a part despite all retries. Other files would fail too, for now. */
export class StorageDown extends AppError {
  constructor({ code, message, cause }: AppError) {
    super(code, message, { cause });
  }
}

/** Time limit without progress of the request or the response. */
const STALL_MS = 60_000;
/** The receiver of a form may forward the file before it responds. This takes longer for larger files. */
const FORM_STALL_MS_PER_MIB = 250;
const MAX_FORM_STALL_MS = 5 * 60_000;
const ERROR_BODY_BYTES = 16 * 1024;
/** The longest delay of a Node.js timer (`timers`, setTimeout). */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Sends a part and returns the ETag of the storage's response (empty without an ETag). Network errors and the statuses
 * that storage-failure.ts classifies as transient are retried 24 times, and forms twice, unless `policy` overrides
 * this. An unreachable host is retried 5 times. Redirects are failures, because they are not followed. A form whose
 * receiver does not respond in time is not sent again: it may have arrived. With `hold`, files are then sent again for
 * up to an hour, except forms that the receiver may have.
 * Throws AppError `storage_*` (`storage_unreachable` without retries for a storage that is too slow), `node_failed`,
 * and the errors of the agent. An abort rejects with the signal's reason.
 */
export async function putPart(upload: PartUpload, policy: Partial<RetryPolicy> = {}): Promise<string> {
  const { signal, part, log } = upload;
  const { retries, backoff, limit } = { ...(part.form ? FORM_RETRIES : RETRIES), ...policy };
  // If the response was lost and the file is sent again, the receiver of a form recognizes it by this header.
  const formKey = randomUUID();
  let withoutHost = 0;
  for (let attempt = 1; ; attempt++) {
    const startedAt = performance.now();
    const outcome = await withTimeLimit(upload, limit, (limited) => tryPart(limited, formKey));
    const fields = { url: part.url, offset: part.offset, sizeBytes: part.sizeBytes, attempt };
    if (outcome.ok) {
      upload.hold?.end();
      log.debug("upload part stored", { ...fields, durationMs: Math.round(performance.now() - startedAt) });
      return outcome.etag;
    }
    signal.throwIfAborted();
    log.debug("upload part failed", { ...fields, error: outcome.error.message, canRetry: outcome.isTransient });
    if (!outcome.isTransient) throw outcome.error;
    withoutHost = outcome.isHostMissing ? withoutHost + 1 : 0;
    const isOver = attempt > retries || withoutHost > NO_HOST_RETRIES.retries;
    const mayHold = part.form === undefined || outcome.isHostMissing;
    if (isOver && !(mayHold && upload.hold?.mayWait())) throw new StorageDown(outcome.error);
    upload.onProgress(0);
    const isQuick = withoutHost > 0 && !isOver;
    const pause = isQuick ? { ...NO_HOST_RETRIES.backoff, firstMs: backoff.firstMs } : backoff;
    await sleep(backoffMs(attempt, pause, Math.random), undefined, { signal }).catch(() => undefined);
    signal.throwIfAborted();
  }
}

/** Aborts an attempt that takes too long. */
async function withTimeLimit<Value>(
  upload: PartUpload,
  { baseMs, msPerKib }: RetryPolicy["limit"],
  work: (upload: PartUpload) => Promise<Value>,
): Promise<Value> {
  const over = new AbortController();
  const limitMs = Math.min(baseMs + (upload.part.sizeBytes / 1024) * msPerKib, LONGEST_TIMER_MS);
  const timer = setTimeout(() => over.abort(tooSlow(limitMs)), limitMs);
  try {
    return await work({ ...upload, signal: AbortSignal.any([upload.signal, over.signal]) });
  } finally {
    clearTimeout(timer);
  }
}

function tooSlow(limitMs: number): AppError {
  const minutes = Math.ceil(limitMs / 60_000);
  const message = `The storage did not accept a file, or a range of a file, within ${minutes} min; use a faster storage.`;
  return new AppError("storage_unreachable", message);
}

/** `isHostMissing`: the host refused the connection, or its name does not resolve. */
type Outcome =
  | { ok: true; etag: string }
  | { ok: false; isTransient: boolean; isHostMissing?: boolean; error: AppError };

async function tryPart(upload: PartUpload, formKey: string): Promise<Outcome> {
  try {
    const { statusCode, headers, body } = await send(upload, formKey);
    if (statusCode >= 200 && statusCode < 300) {
      await body.dump();
      return { ok: true, etag: typeof headers.etag === "string" ? headers.etag : "" };
    }
    const text = await readErrorBody(body);
    if (upload.part.form)
      return { ok: false, isTransient: isTransientStatus(statusCode), error: formFailure(statusCode) };
    const region = headers["x-amz-bucket-region"];
    const error = storageRejection({
      status: statusCode,
      body: text,
      bucketRegion: typeof region === "string" ? region : null,
    });
    return { ok: false, isTransient: error.isTransient, error };
  } catch (error) {
    if (error instanceof AppError) return { ok: false, isTransient: false, error };
    return connectionOutcome(upload.part, error);
  }
}

function send({ content, part, agent, signal, onProgress }: PartUpload, formKey: string) {
  const frame = part.form ? formFrame(part.form, randomBytes(16).toString("hex")) : null;
  const sizeBytes = part.sizeBytes + (frame ? frame.head.length + frame.tail.length : 0);
  const headers = {
    // Some firewalls reject requests without a user agent.
    "user-agent": NODE_USER_AGENT,
    ...Object.fromEntries(Object.entries(part.headers).map(([name, value]) => [name.toLowerCase(), value])),
    ...(frame ? { "content-type": frame.contentType, "idempotency-key": formKey } : {}),
    "content-length": String(sizeBytes),
  };
  const stallMs = STALL_MS + (frame ? formExtraMs(part) : 0);
  const limits = { headersTimeout: stallMs, bodyTimeout: stallMs };
  const range = withProgress(content.read(part.offset, part.sizeBytes), onProgress);
  // An empty stream would be sent chunked, and storage services reject that.
  const body = sizeBytes === 0 ? "" : Readable.from(frame ? framed(frame, range) : range, { objectMode: false });
  return request(part.url, { dispatcher: agent, method: frame ? "POST" : "PUT", headers, body, signal, ...limits });
}

type Bytes = AsyncIterable<Uint8Array>;

async function* withProgress(range: Bytes, onProgress: PartUpload["onProgress"]): AsyncGenerator<Uint8Array> {
  let sent = 0;
  for await (const bytes of range) {
    yield bytes;
    sent += bytes.length;
    onProgress(sent);
  }
}

/** Returns the start of an error body of any size; empty if the body cannot be read. */
async function readErrorBody(body: Readable): Promise<string> {
  let text = "";
  try {
    for await (const chunk of body) {
      text += String(chunk);
      if (text.length > ERROR_BODY_BYTES) break;
    }
  } catch {
    // The status is known. The body would only have explained it.
  }
  return text;
}

const formExtraMs = ({ sizeBytes }: UploadPart): number =>
  Math.min((sizeBytes / 2 ** 20) * FORM_STALL_MS_PER_MIB, MAX_FORM_STALL_MS - STALL_MS);

function connectionOutcome({ url, form }: UploadPart, error: unknown): Outcome & { ok: false } {
  const cause = connectionFailureOf(error instanceof Error && "code" in error ? String(error.code) : null);
  const failure = storageUnreachable(url, cause, form ? "form" : "bucket", error);
  const isFinal = cause === "certificate" || (cause === "timeout" && form !== undefined);
  return {
    ok: false,
    isTransient: !isFinal,
    isHostMissing: cause === "refused" || cause === "unknown host",
    error: failure,
  };
}
