// Reads ranges of a source by HTTP range requests: with retries and renewed signatures, and always of the same version.
import { setTimeout as sleep } from "node:timers/promises";
import type { Agent } from "undici";
import { AppError } from "#shared/errors.ts";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import type { ByteRange } from "#shared/network/http-headers.ts";
import { untilAborted } from "../../async/in-parallel.ts";
import { Renewable, type Signed } from "../../async/renewable.ts";
import { guardedAgent } from "../../network/address-guard.ts";
import { readResponse, validatorOf } from "../fetch/read-response.ts";
import {
  addressNotAllowed,
  connectionFailure,
  FinalFailure,
  httpFailure,
  mayHaveExpired,
  SlowSource,
} from "../fetch/source-failure.ts";
import { requestSource, type SourceResponse } from "../fetch/source-request.ts";
import { canRetry, DEFAULT_TIMEOUTS, pauseMs, type SourceTimeouts, watchRate } from "../fetch/source-timeouts.ts";
import { rangesByPiece, type SourcePiece } from "./source-pieces.ts";

export type RangeSource = {
  readonly pieces: readonly SourcePiece[];
  /** Returns the same pieces with URLs that are valid again. */
  readonly refresh?: (() => Promise<readonly SourcePiece[]>) | undefined;
  readonly allow: AllowPrivate;
  readonly timeouts?: SourceTimeouts | undefined;
};

/** Receives bytes, and resolves when it has stored them. */
export type WriteBytes = (bytes: Buffer, position: number) => Promise<void>;

export interface RangeReader {
  readonly sizeBytes: number;
  /**
   * Reads the bytes of a range in order. Throws AppError like `fetchSource`: `input_http_<status>`, `input_unreachable`
   * (also when the source has changed), `input_timeout`, `input_address_not_allowed`. Also throws the errors of
   * `write`. An abort rejects with the signal's reason.
   */
  read(range: ByteRange, write: WriteBytes, signal: AbortSignal): Promise<void>;
  /** Closes all connections. */
  close(): Promise<void>;
}

/** New bytes of an attempt that restore all retries. */
const PROGRESS_BYTES = 64 * 1024;
/** Several small ranges share a connection that a fetch of the whole source has alone. */
const RANGE_TIMEOUTS: SourceTimeouts = { ...DEFAULT_TIMEOUTS, minimumRate: { bytes: 128 * 1024, windowMs: 60_000 } };

/** A range of a piece that is being read. */
type Read = {
  readonly piece: number;
  readonly range: ByteRange;
  readonly write: WriteBytes;
  readonly signal: AbortSignal;
  received: number;
  host: string;
};

export class HttpRangeReader implements RangeReader {
  readonly sizeBytes: number;
  readonly #source: RangeSource;
  readonly #timeouts: SourceTimeouts;
  readonly #agent: Agent;
  /** By piece: the version that is read, as soon as it is known. */
  readonly #validators: (string | null)[];
  readonly #signed: Renewable<readonly SourcePiece[]>;
  readonly #requests = new FallingLimit();
  #hasResponded = false;

  constructor(source: RangeSource) {
    const { pieces, allow, timeouts = RANGE_TIMEOUTS } = source;
    this.sizeBytes = pieces.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    this.#source = source;
    this.#timeouts = timeouts;
    this.#agent = guardedAgent({ allow, refuse: addressNotAllowed });
    this.#validators = pieces.map(({ validator = null }) => validator);
    this.#signed = new Renewable(pieces, () => renewedPieces(source));
  }

  async read(range: ByteRange, write: WriteBytes, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    for (const { piece, start, end, position } of rangesByPiece(this.#source.pieces, range)) {
      const writeAt: WriteBytes = (bytes, at) => write(bytes, position + at - start);
      await this.#readPiece({ piece, range: { start, end }, write: writeAt, signal, received: 0, host: "" });
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  async #readPiece(read: Read): Promise<void> {
    const { signal } = read;
    let credited = 0;
    for (let failures = 1; ; failures++) {
      await this.#requests.begin(signal);
      const used = this.#signed.latest;
      const before = read.received;
      const failure = await this.#attempt(read, used).then(
        () => null,
        (error: unknown) => connectionFailure(error, read.host),
      );
      const isRefused = failure !== null && read.received === before && mayBeTooMany(failure);
      const mayRepeat = this.#requests.end(isRefused);
      if (!failure) return;
      signal.throwIfAborted();
      if (mayRepeat) {
        failures -= 1;
        continue;
      }
      if (read.received - credited >= PROGRESS_BYTES && !(failure instanceof SlowSource)) {
        credited = read.received;
        failures = 1;
      }
      const isRenewable = this.#source.refresh !== undefined && mayHaveExpired(failure);
      if (isRenewable && (await this.#signed.renew(used, signal))) continue;
      if (!canRetry(failure, failures, this.#hasResponded)) throw failure;
      await sleep(pauseMs(failure, failures, this.#timeouts), undefined, { signal }).catch(() => undefined);
      signal.throwIfAborted();
    }
  }

  /** Sends a single request for the rest of the range. */
  async #attempt(read: Read, used: Signed<readonly SourcePiece[]>): Promise<void> {
    const { piece, signal } = read;
    const range = { start: read.range.start + read.received, end: read.range.end };
    const validator = this.#validators[piece] ?? null;
    const response = await requestSource({
      url: used.value[piece]?.url ?? "",
      headers: rangeHeaders(range, validator),
      secretHeaders: used.value[piece]?.secretHeaders,
      agent: this.#agent,
      allow: this.#source.allow,
      stallMs: this.#timeouts.stallMs,
      signal,
    });
    read.host = response.host;
    try {
      const totalBytes = this.#source.pieces[piece]?.sizeBytes ?? 0;
      const reading = readResponse(response.statusCode, response.headers, {
        received: range.start,
        totalBytes,
        validator,
      });
      if (reading.kind === "http-error") throw httpFailure(response);
      // A whole file in place of a range is another version, or comes from a host without ranges.
      if (reading.kind === "range-mismatch" || response.statusCode !== 206) throw changed(response.host);
      this.#validators[piece] ??= validatorOf(response.headers);
      used.mayHaveExpired = true;
      this.#hasResponded = true;
      await writeBody(response, range, read, watchRate(this.#timeouts, response.host));
    } finally {
      // With a listener, because the body emits an error when it is destroyed early.
      response.body.on("error", () => undefined).destroy();
    }
  }
}

/** Responses of hosts to more connections of a client than they allow. */
const TOO_MANY: ReadonlySet<string> = new Set(["input_http_429", "input_http_503", "input_unreachable"]);
const mayBeTooMany = (failure: AppError): boolean => TOO_MANY.has(failure.code) && !(failure instanceof FinalFailure);

async function renewedPieces({ pieces, refresh }: RangeSource): Promise<readonly SourcePiece[]> {
  const fresh = (await refresh?.()) ?? pieces;
  const isSame =
    fresh.length === pieces.length && fresh.every((piece, at) => piece.sizeBytes === pieces[at]?.sizeBytes);
  if (!isSame) throw changed("the storage");
  return fresh;
}

/** `validator` may be a date or a strong ETag (RFC 9110 §13.1.5). */
const rangeHeaders = ({ start, end }: ByteRange, validator: string | null): Record<string, string> => ({
  range: `bytes=${start}-${end}`,
  ...(validator === null ? {} : { "if-range": validator }),
});

async function writeBody(
  { body, host }: SourceResponse,
  { start, end }: ByteRange,
  read: Read,
  checkRate: (bytes: number) => void,
): Promise<void> {
  let position = start;
  for await (const bytes of body as AsyncIterable<Buffer>) {
    if (position + bytes.length > end + 1) throw changed(host);
    await read.write(bytes, position);
    position += bytes.length;
    read.received += bytes.length;
    checkRate(bytes.length);
  }
  if (position === end + 1) return;
  const sizes = `${position - start} of ${end + 1 - start} bytes`;
  throw new AppError("input_unreachable", `The host \`${host}\` of the input sent ${sizes}; try again later.`);
}

/** Another version cannot be used: bytes of the first version are in use already. */
const changed = (host: string): FinalFailure =>
  new FinalFailure("input_unreachable", `The host \`${host}\` of the input changed the file while it was read.`);

/** The number of requests at a time that a host accepts: any number, until it refuses a request beside others. */
class FallingLimit {
  #running = 0;
  #most = Number.POSITIVE_INFINITY;
  #waiting: (() => void)[] = [];

  /** Resolves when a request may be sent; the caller calls `end` once it is over. Rejects when `signal` aborts. */
  async begin(signal: AbortSignal): Promise<void> {
    while (this.#running >= this.#most) {
      await untilAborted(new Promise<void>((resolve) => this.#waiting.push(resolve)), signal);
    }
    this.#running += 1;
  }

  /**
   * Ends a request. Returns true if a refused request may be sent again after the requests beside it. Returns false if
   * there are none, so that each retry without a delay lowers the limit.
   */
  end(isRefused: boolean): boolean {
    this.#running -= 1;
    const isBeside = isRefused && this.#running > 0;
    if (isBeside) this.#most = Math.min(this.#most, this.#running);
    const waiting = this.#waiting;
    // All waiting requests check again. Aborted requests need no slot.
    this.#waiting = [];
    for (const wake of waiting) wake();
    return isBeside;
  }
}
