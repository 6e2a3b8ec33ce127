// Reads parts of a source by range requests: retried, signed anew when a signature has expired, and of one version only.
import { setTimeout as sleep } from "node:timers/promises";
import type { AllowPrivate } from "#shared/address-policy.ts";
import { backoffMs } from "#shared/backoff.ts";
import type { ByteRange } from "#shared/byte-range.ts";
import { AppError, errorTraits } from "#shared/errors.ts";
import { guardedAgent } from "./address-guard.ts";
import { PATIENCE, type Patience, RETRIES, RETRIES_UNSEEN } from "./fetch-source.ts";
import { readAnswer, validatorOf } from "./read-answer.ts";
import { addressRefusal, connectionFailure, httpFailure } from "./source-failure.ts";
import { requestSource, type SourceAnswer } from "./source-request.ts";

/** One stored file; a source is one of them or several that follow each other. */
export type SourcePiece = {
  readonly url: string;
  readonly sizeBytes: number;
  /** Strong ETag or date of the version to read; null or missing: that which answers first. */
  readonly validator?: string | null;
};

export type RangeSource = {
  readonly pieces: readonly SourcePiece[];
  /** Gives the same pieces with URLs that are valid again. */
  readonly refresh?: (() => Promise<readonly SourcePiece[]>) | undefined;
  readonly allow: AllowPrivate;
  readonly patience?: Patience | undefined;
};

/** Takes bytes that came, and says when it has them. */
export type TakeBytes = (bytes: Buffer, position: number) => Promise<void>;

export interface RangeReader {
  readonly sizeBytes: number;
  /**
   * Reads the bytes of a range, first to last. Throws AppError like `fetchSource`: `input_http_<status>`,
   * `input_unreachable` (also when the source has changed), `input_timeout`, `input_address_not_allowed`, or what
   * `take` throws. An abort rejects with the signal's reason.
   */
  read(range: ByteRange, take: TakeBytes, signal: AbortSignal): Promise<void>;
  /** Ends all connections. */
  close(): Promise<void>;
}

/** What a try must bring to give all retries back. */
const PROGRESS_BYTES = 64 * 1024;
/** With which storages answer signatures and session tokens that have expired (Google Cloud and S3 with tokens: 400). */
const EXPIRED = new Set(["input_http_400", "input_http_401", "input_http_403"]);

/** URLs that were given together. A signature that has never worked is wrong, not old; the first may have waited long. */
type Signed = { readonly pieces: readonly SourcePiece[]; mayBeOld: boolean };

export function rangeReader(source: RangeSource): RangeReader {
  const { pieces, patience = PATIENCE } = source;
  const agent = guardedAgent({ allow: source.allow, refuse: addressRefusal });
  const validators = pieces.map(({ validator = null }) => validator);
  let signed: Signed = { pieces, mayBeOld: true };
  let renewing: Promise<void> | null = null;
  let seen = false;

  const renew = async (refresh: NonNullable<RangeSource["refresh"]>): Promise<void> => {
    const fresh = await refresh();
    const same =
      fresh.length === pieces.length && fresh.every((piece, at) => piece.sizeBytes === pieces[at]?.sizeBytes);
    if (!same) throw changed("the storage");
    signed = { pieces: fresh, mayBeOld: false };
  };

  /** True when the failure was that of an old signature, and there is a new one. */
  const renewed = async (failure: AppError, used: Signed): Promise<boolean> => {
    if (!source.refresh || !EXPIRED.has(failure.code)) return false;
    if (signed !== used) return true;
    if (!used.mayBeOld) return false;
    renewing ??= renew(source.refresh).finally(() => {
      renewing = null;
    });
    await renewing;
    return true;
  };

  /** One request for what is left of a range within a piece; answers where it ended. */
  const attempt = async (at: number, part: ByteRange, used: Signed, ask: Ask): Promise<void> => {
    const url = used.pieces[at]?.url ?? "";
    const answer = await requestSource({
      url,
      headers: rangeHeaders(part, validators[at] ?? null),
      agent,
      allow: source.allow,
      stallMs: patience.stallMs,
      signal: ask.signal,
    });
    ask.host = answer.host;
    try {
      const known = { received: part.start, totalBytes: pieces[at]?.sizeBytes ?? 0, validator: validators[at] ?? null };
      const reading = readAnswer(answer.statusCode, answer.headers, known);
      if (reading.kind === "http-error") {
        throw httpFailure(answer.statusCode, answer.host, answer.headers["x-amz-bucket-region"]);
      }
      // Whole files are for those who asked for them.
      if (reading.kind === "misfit" || answer.statusCode !== 206) throw changed(answer.host);
      validators[at] ??= validatorOf(answer.headers);
      used.mayBeOld = true;
      seen = true;
      await takeBody(answer, part, ask);
    } finally {
      // An error listener, because ending a body early is an error to it.
      answer.body.on("error", () => undefined).destroy();
    }
  };

  const readPart = async (at: number, { start, end }: ByteRange, take: TakeBytes, signal: AbortSignal) => {
    const ask: Ask = { received: 0, host: "", take, signal };
    let credited = 0;
    for (let failures = 1; ; failures++) {
      const used = signed;
      try {
        await attempt(at, { start: start + ask.received, end }, used, ask);
        return;
      } catch (error) {
        signal.throwIfAborted();
        const failure = connectionFailure(error, ask.host);
        if (ask.received - credited >= PROGRESS_BYTES) {
          credited = ask.received;
          failures = 1;
        }
        if (await renewed(failure, used)) continue;
        const { retryable, blame } = errorTraits(failure.code);
        const patient = failures <= (seen ? RETRIES : RETRIES_UNSEEN);
        if (!retryable || blame !== "source" || !patient || failure instanceof SourceChanged) throw failure;
        await sleep(backoffMs(failures, patience.backoff, Math.random), undefined, { signal }).catch(() => undefined);
        signal.throwIfAborted();
      }
    }
  };

  return {
    sizeBytes: pieces.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    async read(range, take, signal) {
      signal.throwIfAborted();
      for (const { piece, start, end, position } of partsOf(pieces, range)) {
        await readPart(piece, { start, end }, (bytes, at) => take(bytes, position + at - start), signal);
      }
    },
    close: () => agent.destroy(),
  };
}

type Ask = { received: number; host: string; readonly take: TakeBytes; readonly signal: AbortSignal };

/** `validator` may be a date or a strong ETag (RFC 9110 §13.1.5). */
const rangeHeaders = ({ start, end }: ByteRange, validator: string | null): Record<string, string> => ({
  range: `bytes=${start}-${end}`,
  ...(validator === null ? {} : { "if-range": validator }),
});

async function takeBody({ body, host }: SourceAnswer, { start, end }: ByteRange, ask: Ask): Promise<void> {
  let position = start;
  for await (const bytes of body as AsyncIterable<Buffer>) {
    if (position + bytes.length > end + 1) throw changed(host);
    await ask.take(bytes, position);
    position += bytes.length;
    ask.received += bytes.length;
  }
  if (position === end + 1) return;
  const sizes = `${position - start} of ${end + 1 - start} bytes`;
  throw new AppError("input_unreachable", `The host \`${host}\` of the input sent ${sizes}; try again later.`);
}

/** There is no going on with another version: some of the first is in use. */
class SourceChanged extends AppError {}
const changed = (host: string): SourceChanged =>
  new SourceChanged("input_unreachable", `The host \`${host}\` of the input changed the file while it was read.`);

type Part = ByteRange & {
  readonly piece: number /** Of its first byte in the whole source. */;
  readonly position: number;
};

/** A range of the source as ranges of its pieces. */
export function partsOf(pieces: readonly Pick<SourcePiece, "sizeBytes">[], { start, end }: ByteRange): Part[] {
  let before = 0;
  return pieces.flatMap(({ sizeBytes }, piece) => {
    const from = before;
    before += sizeBytes;
    const first = Math.max(start, from);
    const last = Math.min(end, from + sizeBytes - 1);
    return first > last ? [] : [{ piece, start: first - from, end: last - from, position: first }];
  });
}
