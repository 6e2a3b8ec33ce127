// One signed request with one range of what is sent, streamed, and tried again while that may help.
import { randomBytes, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type Dispatcher, request } from "undici";
import { type BackoffPolicy, backoffMs } from "#shared/backoff.ts";
import { AppError } from "#shared/errors.ts";
import { noAnswerOf, storageUnreachable } from "#shared/network/storage-connection.ts";
import { isPassingStatus, storageRefusal } from "#shared/network/storage-failure.ts";
import type { UploadPart } from "#shared/protocol/protocol.ts";
import type { Content } from "./content.ts";
import { type FormFrame, formFrame } from "./form-body.ts";
import { formFailure } from "./form-failure.ts";

export type PartUpload = {
  readonly content: Content;
  readonly part: UploadPart;
  readonly agent: Dispatcher;
  readonly signal: AbortSignal;
  /** Bytes of this part that were handed to the network in the present try. */
  readonly onProgress: (bytesSent: number) => void;
};

/** How often, and after how long, what may pass is tried again, and how slowly one try may go. */
export type Patience = {
  readonly retries: number;
  readonly backoff: BackoffPolicy;
  /** The time of one try: so long, and so much more for each KiB. */
  readonly limit: { readonly baseMs: number; readonly msPerKib: number };
};
/**
 * A storage that takes drops would hold its slot for ever. That of 1 MiB a minute is what a source must bring as well
 * (input/source-patience.ts); the base is for answers that take long, and for small files.
 */
const LIMIT: Patience["limit"] = { baseMs: 10 * 60_000, msPerKib: 60_000 / 1024 };
/** Some five minutes: an upload holds no encoder, and waiting costs less than encoding the outputs again. */
const PATIENCE: Patience = { retries: 24, backoff: { firstMs: 500, maxMs: 30_000 }, limit: LIMIT };
/** Some seconds: whoever takes a form may have it already, and gets all of it each time. */
const FORM_PATIENCE: Patience = { ...PATIENCE, retries: 2 };
/**
 * A host that refuses connections, or has no address, is a wrong `storage` far more often than one that restarts: it is
 * given up after 13 s at the most, 6 s on average.
 */
const NOBODY_PATIENCE: Pick<Patience, "retries" | "backoff"> = { retries: 5, backoff: { firstMs: 500, maxMs: 5000 } };
/** A storage that did not take a part in spite of all retries: other files fare no better for now. */
export class StorageDown extends AppError {
  constructor({ code, message, cause }: AppError) {
    super(code, message, { cause });
  }
}

/** How long neither the sending nor the storage's answer may stand still. */
const STALL_MS = 60_000;
/** Whoever takes a form may carry the file elsewhere before answering, which takes the longer the larger it is. */
const FORM_STALL_MS_PER_MIB = 250;
const MAX_FORM_STALL_MS = 5 * 60_000;
/** Some firewalls refuse requests without one. */
const FORM_USER_AGENT = "copra-upload/1";
const ERROR_BODY_BYTES = 16 * 1024;
/** Node's timers take no more (`timers`, setTimeout). */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Sends one part and answers its ETag as the storage wrote it (empty when it sent none). Network errors and what
 * storage-failure.ts calls passing are retried 24 times, forms twice, unless `patience` says otherwise; a host where
 * nobody answers 5 times. Redirects are refusals, they are not followed. A form whose receiver does not answer in time is
 * not sent again: it may have arrived.
 * Throws AppError `storage_*` (`storage_unreachable` also, at once, for a storage that takes too little at a time),
 * `node_failed`, and what the agent refuses with. An abort rejects with the signal's reason.
 */
export async function putPart(upload: PartUpload, patience: Partial<Patience> = {}): Promise<string> {
  const { signal, part } = upload;
  const { retries, backoff, limit } = { ...(part.form ? FORM_PATIENCE : PATIENCE), ...patience };
  // By this header a receiver of forms tells one that is sent again, because its answer was lost, from another.
  const formKey = randomUUID();
  let nobody = 0;
  for (let failures = 1; ; failures++) {
    const outcome = await inTime(upload, limit, (timed) => tryPart(timed, formKey));
    if (outcome.ok) return outcome.etag;
    signal.throwIfAborted();
    if (!outcome.passing) throw outcome.error;
    nobody = outcome.isNobody ? nobody + 1 : 0;
    if (failures > retries || nobody > NOBODY_PATIENCE.retries) throw new StorageDown(outcome.error);
    upload.onProgress(0);
    const pause = nobody > 0 ? { ...NOBODY_PATIENCE.backoff, firstMs: backoff.firstMs } : backoff;
    await sleep(backoffMs(failures, pause, Math.random), undefined, { signal }).catch(() => undefined);
    signal.throwIfAborted();
  }
}

/** Breaks a try off that takes too long. */
async function inTime<Value>(
  upload: PartUpload,
  { baseMs, msPerKib }: Patience["limit"],
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

const tooSlow = (limitMs: number): AppError =>
  new AppError(
    "storage_unreachable",
    `The storage has not taken a file, or a part of one, within ${Math.ceil(limitMs / 60_000)} min; use a faster one.`,
  );

/** `isNobody`: the host refused the connection, or has no address. */
type Outcome = { ok: true; etag: string } | { ok: false; passing: boolean; isNobody?: boolean; error: AppError };

async function tryPart(upload: PartUpload, formKey: string): Promise<Outcome> {
  try {
    const { statusCode, headers, body } = await send(upload, formKey);
    if (statusCode >= 200 && statusCode < 300) {
      await body.dump();
      return { ok: true, etag: typeof headers.etag === "string" ? headers.etag : "" };
    }
    const said = await beginning(body);
    if (upload.part.form) return { ok: false, passing: isPassingStatus(statusCode), error: formFailure(statusCode) };
    const region = headers["x-amz-bucket-region"];
    const error = storageRefusal({
      status: statusCode,
      body: said,
      bucketRegion: typeof region === "string" ? region : null,
    });
    return { ok: false, passing: error.passing, error };
  } catch (error) {
    if (error instanceof AppError) return { ok: false, passing: false, error };
    return connectionOutcome(upload.part, error);
  }
}

function send({ content, part, agent, signal, onProgress }: PartUpload, formKey: string) {
  const frame = part.form ? formFrame(part.form, randomBytes(16).toString("hex")) : null;
  const sizeBytes = part.sizeBytes + (frame ? frame.head.length + frame.tail.length : 0);
  const headers = {
    ...Object.fromEntries(Object.entries(part.headers).map(([name, value]) => [name.toLowerCase(), value])),
    ...(frame ? { "content-type": frame.contentType, "idempotency-key": formKey, "user-agent": FORM_USER_AGENT } : {}),
    "content-length": String(sizeBytes),
  };
  const stallMs = STALL_MS + (frame ? formExtraMs(part) : 0);
  const limits = { headersTimeout: stallMs, bodyTimeout: stallMs };
  const range = metered(content.read(part.offset, part.sizeBytes), onProgress);
  // An empty stream would be sent chunked, which storage services refuse.
  const body = sizeBytes === 0 ? "" : Readable.from(frame ? framed(frame, range) : range, { objectMode: false });
  return request(part.url, { dispatcher: agent, method: frame ? "POST" : "PUT", headers, body, signal, ...limits });
}

type Chunks = AsyncIterable<Uint8Array>;

async function* framed({ head, tail }: FormFrame, range: Chunks): AsyncGenerator<Uint8Array> {
  yield head;
  yield* range;
  yield tail;
}

async function* metered(range: Chunks, onProgress: PartUpload["onProgress"]): AsyncGenerator<Uint8Array> {
  let sent = 0;
  for await (const chunk of range) {
    yield chunk;
    sent += chunk.length;
    onProgress(sent);
  }
}

/** The start of an error body, whatever its size; what cannot be read is left out. */
async function beginning(body: Readable): Promise<string> {
  let text = "";
  try {
    for await (const chunk of body) {
      text += String(chunk);
      if (text.length > ERROR_BODY_BYTES) break;
    }
  } catch {
    // The status is known; the body would only have explained it.
  }
  return text;
}

const formExtraMs = ({ sizeBytes }: UploadPart): number =>
  Math.min((sizeBytes / 2 ** 20) * FORM_STALL_MS_PER_MIB, MAX_FORM_STALL_MS - STALL_MS);

function connectionOutcome({ url, form }: UploadPart, error: unknown): Outcome & { ok: false } {
  const why = noAnswerOf(error instanceof Error && "code" in error ? String(error.code) : null);
  const failure = storageUnreachable(url, why, form ? "form" : "bucket", error);
  const isFinal = why === "certificate" || (why === "timeout" && form !== undefined);
  return { ok: false, passing: !isFinal, isNobody: why === "refused" || why === "unknown host", error: failure };
}
