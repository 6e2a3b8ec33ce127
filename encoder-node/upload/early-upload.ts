// Uploads a file in parts while ffmpeg still writes it.
import { lstat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "#shared/log.ts";
import { MAX_FILE_BYTES } from "#shared/report-limits.ts";
import { type Limiter, untilAborted } from "../async/in-parallel.ts";
import { type Content, rangeContent } from "./content.ts";
import { EarlyParts, type StoredParts } from "./early-parts.ts";
import { StorageDown } from "./put-part.ts";
import type { UploadDeps } from "./upload.ts";

/** A file to which ffmpeg only appends until it ends, except for its first bytes. */
export type GrowingFile = {
  readonly output: number;
  /** The path of the file; null while the file does not exist. */
  find(): Promise<string | null>;
  /** Size of the index (`moov`) in bytes. It is uploaded before the file, or after the file's first bytes. */
  readonly reservedBytes: number;
  /** The written share of the file, from 0 to 1; 0 if unknown. */
  fraction(): number;
};

export interface EarlyUpload {
  readonly reservedBytes: number;
  /** Prevents further parts. Returns true if the upload has started: `reservedBytes` then counts. */
  halt(): boolean;
  /**
   * Uploads the rest of the finished file, and returns the result of `uploadContent`. Null if the file must be uploaded
   * as a whole, because the storage has no parts or rejects them. Throws StorageDown, and the reason of an abort.
   */
  finish(content: Content, onProgress: (bytesSent: number) => void): Promise<StoredParts | null>;
  /** Ends all requests, and resolves when they have ended. */
  stop(): Promise<void>;
}

export type EarlyUploadDeps = UploadDeps & {
  /** Limits the parts of growing files that are sent at a time. */
  readonly limiter: Limiter;
};

/** Interval at which the size of the file is read. */
const POLL_MS = 500;
/** The minimum size of a part is 5 MiB. */
const LEAST_PART_BYTES = 5 * 2 ** 20;
/**
 * Smaller files are not worth it: little more than the first part exists before the encode ends, and that part is
 * uploaded last.
 */
const LEAST_BYTES = 2.5 * LEAST_PART_BYTES;
/**
 * More than ffmpeg rewrites. At the start of a file it rewrites the type of an MP4 or the header of a Matroska file. At
 * the end of a growing file it rewrites the sizes in a fragment's `moof` box, which has some 16 bytes for each frame.
 */
const REWRITTEN_BYTES = 64 * 1024;

/** Starts the upload when the file is large enough, and not before `verified`. */
export function openEarlyUpload(
  file: GrowingFile,
  verified: Promise<void>,
  { limiter, ...taskDeps }: EarlyUploadDeps,
  pollMs = POLL_MS,
): EarlyUpload {
  const { reservedBytes } = file;
  const [halting, stopping, failing] = [new AbortController(), new AbortController(), new AbortController()];
  const stopped = AbortSignal.any([taskDeps.signal, stopping.signal]);
  const deps = { ...taskDeps, signal: AbortSignal.any([stopped, failing.signal]) };
  const growing = AbortSignal.any([deps.signal, halting.signal]);
  const sending: Promise<void>[] = [];
  let parts: EarlyParts | null = null;

  /** After a failure the upload's other requests are useless. */
  const giveUp = (error: unknown): void => {
    if (!deps.signal.aborted) deps.log.info("early upload given up", { output: file.output, error: messageOf(error) });
    failing.abort(error);
  };

  const begin = (written: number): EarlyParts | null => {
    const fraction = Math.min(1, file.fraction());
    if (growing.aborted || fraction <= 0 || written < LEAST_PART_BYTES) return null;
    const expectedBytes = Math.min(MAX_FILE_BYTES, reservedBytes + Math.round(written / fraction));
    return expectedBytes >= LEAST_BYTES ? new EarlyParts(file.output, expectedBytes, deps) : null;
  };
  const follow = async (): Promise<void> => {
    await untilAborted(verified, growing);
    let next = 0;
    while (!growing.aborted) {
      const path = await file.find();
      const written = (path !== null && (await lstat(path).catch(() => null))?.size) || 0;
      // Bytes of the upload that ffmpeg no longer changes.
      const certain = reservedBytes + written - REWRITTEN_BYTES;
      parts ??= begin(written);
      const partBytes = await parts?.open();
      if (parts && partBytes === undefined) return giveUp(new Error("The storage has no parts"));
      if (parts && partBytes !== undefined && path !== null) {
        next = Math.max(next, Math.ceil((reservedBytes + REWRITTEN_BYTES) / partBytes));
        for (; (next + 1) * partBytes <= certain && limiter.isFree && !growing.aborted; next++) {
          const [part, open] = [next, parts];
          sending.push(limiter.run(() => open.send(part, shifted(path, reservedBytes))).catch(giveUp));
        }
      }
      await sleep(pollMs, undefined, { signal: growing }).catch(() => undefined);
    }
  };
  const following = follow().catch((error: unknown) => {
    if (!growing.aborted) giveUp(error);
  });
  const ended = async (): Promise<void> => {
    await following;
    await Promise.all(sending);
    // If this request arrived after the request of another upload, it would replace that upload.
    await parts?.idle();
  };

  return {
    reservedBytes,
    halt() {
      halting.abort(new Error("The file is finished"));
      return parts !== null && !failing.signal.aborted;
    },
    async finish(content, onProgress) {
      halting.abort(new Error("The file is finished"));
      await ended();
      stopped.throwIfAborted();
      if (!parts || failing.signal.aborted) return null;
      try {
        return await parts.finish(content, onProgress);
      } catch (error) {
        stopped.throwIfAborted();
        if (error instanceof StorageDown) throw error;
        giveUp(error);
        return null;
      }
    },
    async stop() {
      stopping.abort(new Error("The upload was stopped"));
      await ended();
    },
  };
}

/**
 * The bytes of a growing file, shifted by the reserved bytes. Its size is unknown: read only bytes that no longer
 * change.
 */
const shifted = (path: string, reservedBytes: number): Content => ({
  sizeBytes: 0,
  read: (offset, sizeBytes) => rangeContent(path, offset - reservedBytes, sizeBytes).read(0, sizeBytes),
});
