// Reads parts of a source by range requests: retried, signed anew when a signature has expired, and of one version only.
import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "#shared/errors.ts";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import type { ByteRange } from "#shared/network/byte-range.ts";
import { renewable, type Signed } from "../../async/renewable.ts";
import { guardedAgent } from "../fetch/address-guard.ts";
import { readAnswer, validatorOf } from "../fetch/read-response.ts";
import {
  addressRefusal,
  connectionFailure,
  DeadEnd,
  httpFailure,
  mayBeExpired,
  TooSlow,
} from "../fetch/source-failure.ts";
import { requestSource, type SourceAnswer } from "../fetch/source-request.ts";
import { mayTryAgain, PATIENCE, type Patience, pauseMs, watchRate } from "../fetch/source-timeouts.ts";

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
/** Several ranges share a line that one fetch has for itself, and each is small. */
const RANGE_PATIENCE: Patience = { ...PATIENCE, least: { bytes: 128 * 1024, windowMs: 60_000 } };

export function rangeReader(source: RangeSource): RangeReader {
  const { pieces, patience = RANGE_PATIENCE } = source;
  const agent = guardedAgent({ allow: source.allow, refuse: addressRefusal });
  const validators = pieces.map(({ validator = null }) => validator);
  const signed = renewable(pieces, () => signedAnew(source));
  let seen = false;

  /** One request for what is left of a range within a piece; answers where it ended. */
  const attempt = async (
    at: number,
    part: ByteRange,
    used: Signed<readonly SourcePiece[]>,
    ask: Ask,
  ): Promise<void> => {
    const url = used.value[at]?.url ?? "";
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
      if (reading.kind === "http-error") throw httpFailure(answer);
      // Whole files are for those who asked for them.
      if (reading.kind === "misfit" || answer.statusCode !== 206) throw changed(answer.host);
      validators[at] ??= validatorOf(answer.headers);
      used.mayBeOld = true;
      seen = true;
      await takeBody(answer, part, ask, watchRate(patience, answer.host));
    } finally {
      // An error listener, because ending a body early is an error to it.
      answer.body.on("error", () => undefined).destroy();
    }
  };

  const readPart = async (at: number, { start, end }: ByteRange, take: TakeBytes, signal: AbortSignal) => {
    const ask: Ask = { received: 0, host: "", take, signal };
    let credited = 0;
    for (let failures = 1; ; failures++) {
      const used = signed.latest();
      try {
        await attempt(at, { start: start + ask.received, end }, used, ask);
        return;
      } catch (error) {
        signal.throwIfAborted();
        const failure = connectionFailure(error, ask.host);
        if (ask.received - credited >= PROGRESS_BYTES && !(failure instanceof TooSlow)) {
          credited = ask.received;
          failures = 1;
        }
        if (source.refresh && mayBeExpired(failure) && (await signed.renewed(used, signal))) continue;
        if (!mayTryAgain(failure, failures, seen)) throw failure;
        await sleep(pauseMs(failure, failures, patience), undefined, { signal }).catch(() => undefined);
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

/** The same pieces with URLs that are valid again. */
async function signedAnew({ pieces, refresh }: RangeSource): Promise<readonly SourcePiece[]> {
  const fresh = (await refresh?.()) ?? pieces;
  const same = fresh.length === pieces.length && fresh.every((piece, at) => piece.sizeBytes === pieces[at]?.sizeBytes);
  if (!same) throw changed("the storage");
  return fresh;
}

type Ask = { received: number; host: string; readonly take: TakeBytes; readonly signal: AbortSignal };

/** `validator` may be a date or a strong ETag (RFC 9110 §13.1.5). */
const rangeHeaders = ({ start, end }: ByteRange, validator: string | null): Record<string, string> => ({
  range: `bytes=${start}-${end}`,
  ...(validator === null ? {} : { "if-range": validator }),
});

async function takeBody(
  { body, host }: SourceAnswer,
  { start, end }: ByteRange,
  ask: Ask,
  checkRate: (bytes: number) => void,
): Promise<void> {
  let position = start;
  for await (const bytes of body as AsyncIterable<Buffer>) {
    if (position + bytes.length > end + 1) throw changed(host);
    await ask.take(bytes, position);
    position += bytes.length;
    ask.received += bytes.length;
    checkRate(bytes.length);
  }
  if (position === end + 1) return;
  const sizes = `${position - start} of ${end + 1 - start} bytes`;
  throw new AppError("input_unreachable", `The host \`${host}\` of the input sent ${sizes}; try again later.`);
}

/** There is no going on with another version: some of the first is in use. */
const changed = (host: string): DeadEnd =>
  new DeadEnd("input_unreachable", `The host \`${host}\` of the input changed the file while it was read.`);

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
