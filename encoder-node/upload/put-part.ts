// One signed request with one range of what is sent, streamed, and tried again while that may help.
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type Dispatcher, request } from "undici";
import { type BackoffPolicy, backoffMs } from "#shared/backoff.ts";
import { AppError } from "#shared/errors.ts";
import type { UploadPart } from "#shared/protocol.ts";
import { isPassingStatus, storageRefusal } from "#shared/storage-failure.ts";
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

/** How often, and after how long, what may pass is tried again. */
export type Patience = { readonly retries: number; readonly backoff: BackoffPolicy };
const PATIENCE: Patience = { retries: 4, backoff: { firstMs: 500, maxMs: 10_000 } };
/** How long neither the sending nor the storage's answer may stand still. */
const STALL_MS = 60_000;
/** The same for a form: whoever takes one may carry the file elsewhere before answering. */
const FORM_STALL_MS = 5 * 60_000;
const ERROR_BODY_BYTES = 16 * 1024;

/**
 * Sends one part and answers its ETag as the storage wrote it (empty when it sent none). Network errors and
 * what storage-failure.ts calls passing are tried again, 4 times if nothing else is said; redirects are refusals, they are not followed.
 * Throws AppError `storage_*`, `node_failed`, and what the agent refuses with. An abort rejects with the signal's reason.
 */
export async function putPart(upload: PartUpload, { retries, backoff }: Patience = PATIENCE): Promise<string> {
  const { signal } = upload;
  for (let failures = 1; ; failures++) {
    const outcome = await tryPart(upload);
    if (outcome.ok) return outcome.etag;
    signal.throwIfAborted();
    if (!outcome.passing || failures > retries) throw outcome.error;
    upload.onProgress(0);
    await sleep(backoffMs(failures, backoff, Math.random), undefined, { signal }).catch(() => undefined);
    signal.throwIfAborted();
  }
}

type Outcome = { ok: true; etag: string } | { ok: false; passing: boolean; error: AppError };

async function tryPart(upload: PartUpload): Promise<Outcome> {
  try {
    const { statusCode, headers, body } = await send(upload);
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
    return { ok: false, passing: true, error: networkFailure(error) };
  }
}

function send({ content, part, agent, signal, onProgress }: PartUpload) {
  const frame = part.form ? formFrame(part.form, randomBytes(16).toString("hex")) : null;
  const sizeBytes = part.sizeBytes + (frame ? frame.head.length + frame.tail.length : 0);
  const headers = {
    ...Object.fromEntries(Object.entries(part.headers).map(([name, value]) => [name.toLowerCase(), value])),
    ...(frame ? { "content-type": frame.contentType } : {}),
    "content-length": String(sizeBytes),
  };
  const stallMs = frame ? FORM_STALL_MS : STALL_MS;
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

function networkFailure(error: unknown): AppError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "no reason given";
  return new AppError("storage_unreachable", `The storage cannot be reached (${code}); try again later.`, {
    cause: error,
  });
}
