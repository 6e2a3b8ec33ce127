// Single requests for the ranges of a source, and the version of the source in their responses.
import { PassThrough, type Readable } from "node:stream";
import type { Agent } from "undici";
import { AppError } from "#shared/errors.ts";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import { guardedAgent } from "../../network/address-guard.ts";
import { type FileVersion, readResponse, supportsRanges, validatorOf } from "./read-response.ts";
import { addressNotAllowed, changed, connectionBroken, httpFailure, incomplete } from "./source-failure.ts";
import type { SourcePiece } from "./source-pieces.ts";
import { requestSource, type SourceResponse } from "./source-request.ts";
import { DEFAULT_TIMEOUTS, type SourceTimeouts, watchRate } from "./source-timeouts.ts";

/** A stored file, whose size may still be unknown. A source with a file of unknown size has no other files. */
export type LocatedPiece = Omit<SourcePiece, "sizeBytes"> & { readonly sizeBytes: number | null };

export type HttpSource = {
  readonly pieces: readonly LocatedPiece[];
  readonly allow: AllowPrivate;
  readonly timeouts?: SourceTimeouts | undefined;
};

export type Sink = {
  /** Resolves when the bytes are stored. */
  write(bytes: Buffer, position: number): Promise<void>;
  /** Called for each response, before its bytes. */
  begin?(): Promise<void>;
  /** Discards all bytes, because the host has another version or cannot resume. Without it, such a fetch fails. */
  restart?: (() => Promise<void>) | undefined;
};

/** A range of a piece that is being fetched. */
export type Part = {
  readonly piece: number;
  /** Position of the piece in the source. */
  readonly offset: number;
  /** The next byte, and the last byte. */
  at: number;
  readonly end: number | null;
  readonly sink: Sink;
  readonly signal: AbortSignal;
  host: string;
  /** Called when the host has accepted a request. */
  readonly onResponse: () => void;
  /** Called when bytes have been stored; may throw. */
  readonly onBytes: () => void;
};

export class SourceRequests {
  readonly timeouts: SourceTimeouts;
  readonly #allow: AllowPrivate;
  readonly #agent: Agent;
  /** By piece: the version that is read, as soon as it is known. */
  readonly #versions: FileVersion[];
  /** Connections that were reset. */
  #resets = 0;
  /** True if the host has sent some of the source, even if that is lost by now. */
  hasResponded = false;
  #supportsRanges = false;

  constructor({ pieces, allow, timeouts = DEFAULT_TIMEOUTS }: HttpSource) {
    this.timeouts = timeouts;
    this.#allow = allow;
    const onReset = (): void => {
      this.#resets += 1;
    };
    this.#agent = guardedAgent({ allow, refuse: addressNotAllowed, onReset });
    this.#versions = pieces.map(({ sizeBytes, validator = null }) => ({ totalBytes: sizeBytes, validator }));
  }

  get versions(): readonly FileVersion[] {
    return this.#versions;
  }

  /** True if nothing is lost when a fetch stops. */
  get canResume(): boolean {
    return this.#supportsRanges && this.#versions.every(({ validator }) => validator !== null);
  }

  /**
   * Requests the first byte, once. True if the host supports ranges of the version that is read. False if it sends no
   * size, or identifies no version: then the source must be fetched as a whole. Throws AppError as `fetch` does.
   */
  async askForRanges(piece: LocatedPiece | undefined, signal: AbortSignal): Promise<boolean> {
    const response = await this.#request(piece, { range: "bytes=0-0" }, signal);
    const { statusCode, headers, body } = response;
    body.on("error", () => undefined).destroy();
    const version = this.#versionOf({ piece: 0 });
    const reading = readResponse(statusCode, headers, { received: 0, ...version });
    // An empty file has no first byte.
    if (reading.kind === "http-error" && statusCode !== 416) throw httpFailure(response);
    const validator = validatorOf(headers);
    if (statusCode !== 206 || reading.kind !== "bytes" || reading.totalBytes === null || validator === null)
      return false;
    this.#versions[0] = { totalBytes: reading.totalBytes, validator };
    this.#supportsRanges = true;
    return true;
  }

  /** Closes all connections. */
  close(): Promise<void> {
    return this.#agent.destroy();
  }

  #request(
    piece: LocatedPiece | undefined,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<SourceResponse> {
    const { stallMs } = this.timeouts;
    const { url = "", secretHeaders } = piece ?? {};
    return requestSource({ url, secretHeaders, headers, agent: this.#agent, allow: this.#allow, stallMs, signal });
  }

  /**
   * Sends a single request for the rest of a range. Moves `part.at` with each byte that is stored, also when it fails.
   * Throws as `SourceFetcher.fetch`.
   */
  async send(part: Part, piece: LocatedPiece | undefined): Promise<void> {
    if (part.end === null && this.#versionOf(part).validator === null) await this.#restart(part);
    const resets = this.#resets;
    const headers = rangeHeaders(part, this.#versionOf(part).validator);
    const response = await this.#request(piece, headers, part.signal);
    part.host = response.host;
    const arriving = arrivingBytes(response.body);
    try {
      await this.#readHeaders(response, part);
      part.onResponse();
      this.hasResponded = true;
      await part.sink.begin?.();
      await this.#writeBody(arriving, part);
      if (endsByClosing(response) && this.#resets > resets) throw connectionBroken(response.host);
    } finally {
      response.body.destroy();
    }
  }

  #versionOf({ piece }: Pick<Part, "piece">): FileVersion {
    return this.#versions[piece] ?? { totalBytes: null, validator: null };
  }

  async #readHeaders(response: SourceResponse, part: Part): Promise<void> {
    const { statusCode, headers, host } = response;
    const version = this.#versionOf(part);
    const reading = readResponse(statusCode, headers, { received: part.at, ...version });
    if (reading.kind === "http-error") throw httpFailure(response);
    const isOpen = part.end === null;
    if (reading.kind === "range-mismatch" || (!isOpen && statusCode !== 206)) throw this.#changed(part, host);
    const next = { totalBytes: reading.totalBytes, validator: validatorOf(headers) };
    // All of the file, perhaps of another version.
    if (isOpen && statusCode === 200) {
      const isSame = next.validator === version.validator && next.totalBytes === version.totalBytes;
      if (part.at > 0 || !isSame) await this.#restart(part);
    }
    const { totalBytes, validator } = this.#versionOf(part);
    this.#versions[part.piece] = { totalBytes: next.totalBytes ?? totalBytes, validator: validator ?? next.validator };
    this.#supportsRanges = supportsRanges(statusCode, headers);
  }

  /** The next attempt starts again if the sink can discard its bytes. */
  #changed(part: Part, host: string): AppError {
    if (part.end !== null || !part.sink.restart) return changed(host);
    this.#versions[part.piece] = { ...this.#versionOf(part), validator: null };
    return new AppError("input_unreachable", changed(host).message);
  }

  async #restart(part: Part): Promise<void> {
    const { sink, piece, host } = part;
    if (!sink.restart) {
      if (part.at === 0 && this.#versionOf(part).totalBytes === null) return;
      throw changed(host);
    }
    await sink.restart();
    part.at = 0;
    this.#versions[piece] = { totalBytes: null, validator: null };
  }

  async #writeBody(arriving: AsyncIterable<Buffer>, part: Part): Promise<void> {
    const { end, sink, offset, host, signal } = part;
    const start = part.at;
    const { totalBytes } = this.#versionOf(part);
    const endBytes = end === null ? totalBytes : end + 1;
    const checkRate = watchRate(this.timeouts, host, end !== null);
    for await (const bytes of arriving) {
      signal.throwIfAborted();
      // More bytes than announced belong to no version that could be completed.
      if (endBytes !== null && part.at + bytes.length > endBytes) throw this.#changed(part, host);
      await sink.write(bytes, offset + part.at);
      part.at += bytes.length;
      checkRate(bytes.length);
      part.onBytes();
    }
    if (endBytes === null) this.#versions[part.piece] = { ...this.#versionOf(part), totalBytes: part.at };
    else if (part.at !== endBytes) throw incomplete(host, part.at - start, endBytes - start);
  }
}

/** A fast connection sends as much while the disk stores a block. */
const ARRIVED_BYTES = 128 * 1024;

/**
 * Returns the bytes of a body from now on. Bytes that arrive before the connection breaks come before the error: an
 * iterated stream drops them, and a slow disk would get nothing from a host that breaks each connection.
 */
function arrivingBytes(body: Readable): AsyncIterable<Buffer> {
  const arrived = new PassThrough({ highWaterMark: ARRIVED_BYTES });
  let failure: unknown = null;
  body.on("error", (error) => {
    failure = error;
  });
  body.once("close", () => arrived.end()).pipe(arrived);
  return (async function* () {
    yield* arrived;
    if (failure !== null) throw failure;
  })();
}

/** No range for a whole file: some servers respond to it in unusual ways. The validator may be a date or a strong ETag. */
function rangeHeaders({ at, end }: Pick<Part, "at" | "end">, validator: string | null): Record<string, string> {
  if (at === 0 && end === null) return {};
  return { range: `bytes=${at}-${end ?? ""}`, ...(validator === null ? {} : { "if-range": validator }) };
}

/** True if only the connection's end marks the end of the body (RFC 9112 §6.3). undici checks all other bodies. */
const endsByClosing = ({ headers }: SourceResponse): boolean =>
  headers["content-length"] === undefined && headers["transfer-encoding"] === undefined;
