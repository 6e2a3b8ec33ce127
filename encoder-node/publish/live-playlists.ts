// The playlists of a stream while it is encoded. They are stored repeatedly, each time with all segments that are
// stored by then. Players can start long before the end.
import { AppError, type Failure } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { longestEnd } from "#shared/plan/source/output-length.ts";
import type { LiveStream } from "#shared/protocol/frames.ts";
import type { Growing } from "../package/growing.ts";
import { inStreamFolder } from "../package/package-files.ts";
import { endMs } from "../package/spans.ts";
import { bytesContent } from "../upload/content.ts";
import type { UploadDeps } from "../upload/upload.ts";
import { type StreamPackage, storeSubtitles, textsOf } from "./store-package.ts";
import type { PackageFeeds, PublicationOptions } from "./stream-feeds.ts";
import { type StreamFile, StreamStorage } from "./stream-storage.ts";
import type { MadeTrack, TrackFeed } from "./track-feed.ts";

export interface LivePlaylists {
  /** Stores the playlists with the stored segments, unless no segment is new or it is too early. */
  update(): void;
  /** Resolves when nothing is being stored, and starts no more updates: the complete playlists follow. */
  close(): Promise<void>;
  /**
   * Ends the stream with its stored segments, so that players do not wait for more. Call this if complete playlists are
   * not stored, also after `close()`.
   */
  end(): Promise<void>;
}

export type LiveDeps = UploadDeps & {
  /** Receives the length of the stream that its stored playlists name. */
  readonly playable: (stream: LiveStream) => void;
};

/**
 * Segments of each track in the first playlists. A player looks for more segments after the duration of a segment, and
 * may just miss the second playlists. It looks again half a duration later (RFC 8216 §6.3.4), so it has played 1.5
 * segments.
 */
const FIRST_SEGMENTS = 2;
/** Time limit for the last playlists of a failed stream. */
const END_LIMIT_MS = 10_000;

type Part = Omit<StreamPackage, "subtitles" | "thumbnails" | "chapters">;

export function openLivePlaylists(
  options: PublicationOptions,
  packages: readonly PackageFeeds[],
  deps: LiveDeps,
): LivePlaylists {
  const { spec, folder } = options;
  const writer = playlistWriter(options, deps);
  let nextAt = 0;
  let shownMs = 0;
  let round: Promise<void> | null = null;
  let isClosed = false;
  let ending: Promise<void> | null = null;

  const partsOf = (least: number): Part[] | null => {
    const parts = packages.map(({ name, variants, feeds }) => {
      const tracks = storedTracks(feeds, least);
      return tracks && { name, spec, folder, tracks, variants };
    });
    return parts.every((part) => part !== null) ? parts : null;
  };
  /** Only logs a failure: the output does not depend on growing playlists. */
  const attempt = (stored: Promise<void>): Promise<void> =>
    stored.catch((error: unknown) => {
      if (!deps.signal.aborted) deps.log.warn("growing playlists not stored", { error: messageOf(error) });
    });

  const close = async (): Promise<void> => {
    isClosed = true;
    await round;
  };
  const end = async (): Promise<void> => {
    await close();
    const parts = deps.signal.aborted || !writer.hasWritten() ? null : partsOf(1);
    if (parts) await attempt(writer.end(parts));
  };

  return {
    update() {
      const now = Date.now();
      const parts = round || isClosed || now < nextAt ? null : partsOf(FIRST_SEGMENTS);
      const untilMs = parts ? playableMs(parts) : 0;
      if (!parts || untilMs <= shownMs) return;
      shownMs = untilMs;
      nextAt = now + spec.segmentDurationMs;
      round = attempt(writer.write(parts, now)).finally(() => {
        round = null;
      });
    },
    close,
    end() {
      ending ??= end();
      return ending;
    },
  };
}

/** Writes the playlists of a stream. Accepts a single call at a time. */
function playlistWriter(options: PublicationOptions, deps: LiveDeps) {
  const { spec, planned, subtitles: files } = options;
  const segmentSeconds = spec.segmentDurationMs / 1000;
  const expectedMs = longestEnd(planned.tracks);
  const lists = textStore(spec.index, deps);
  let subtitles: StreamPackage["subtitles"] = [];
  let startedAt: number | null = null;

  const store = (parts: readonly Part[], growing: Growing | null, signal: AbortSignal): Promise<void> =>
    lists.store(
      parts.map((part) => ({ ...part, subtitles, thumbnails: null, chapters: planned.stream.chapters, growing })),
      signal,
    );
  /** Stores the subtitles of the whole stream, if its length is known. */
  const storeTexts = async (parts: readonly Part[]): Promise<void> => {
    if (files.length === 0 || expectedMs === null) return;
    const texts = parts.map((part) => ({ ...part, endMs: expectedMs }));
    const stored = await storeSubtitles(files, texts, new StreamStorage(spec.index, deps));
    if (!stored.ok) throw AppError.from(stored.error);
    subtitles = stored.value;
  };

  return {
    hasWritten: () => startedAt !== null,
    async write(parts: readonly Part[], now: number): Promise<void> {
      if (startedAt === null) await storeTexts(parts);
      startedAt ??= now;
      const growing = { segmentSeconds, expectedMs, startedAt, writtenAt: now, measuredSegments: FIRST_SEGMENTS };
      await store(parts, growing, deps.signal);
      deps.playable({ output: spec.index, seconds: Math.floor(playableMs(parts)) / 1000 });
    },
    end: (parts: readonly Part[]) =>
      store(parts, null, AbortSignal.any([deps.signal, AbortSignal.timeout(END_LIMIT_MS)])),
  };
}

/**
 * The tracks with their stored segments. All tracks of a kind have equally many. Null while any track has less than
 * `least` segments.
 */
function storedTracks(feeds: readonly TrackFeed[], least: number): MadeTrack[] | null {
  const tracks = feeds.map((feed) => {
    const alike = feeds.filter(({ kind }) => kind === feed.kind);
    const count = Math.min(...alike.map((each) => each.storedSegments()));
    const track = feed.made();
    return track && count >= least ? { ...track, segments: track.segments.slice(0, count) } : null;
  });
  return tracks.every((track) => track !== null) ? tracks : null;
}

const playableMs = (parts: readonly Part[]): number => Math.min(...parts.flatMap(({ tracks }) => tracks.map(endMs)));

/** Stores the changed playlists with a single request for tickets. Only the first playlists name each other. */
function textStore(output: number, deps: UploadDeps) {
  const known = new Map<string, string>();
  const storeAll = async (files: readonly StreamFile[], signal: AbortSignal): Promise<Failure | null> => {
    const storage = new StreamStorage(output, { ...deps, signal });
    storage.add(files);
    return storage.settled();
  };
  return {
    async store(packages: readonly StreamPackage[], signal: AbortSignal): Promise<void> {
      const texts = packages.flatMap((stream) =>
        textsOf(stream).map(({ file, text }) => ({
          name: `${stream.name}/${file}`,
          text,
          // A manifest names segments only.
          isMaster: file.endsWith(".m3u8") && !file.startsWith(inStreamFolder(stream.folder, "")),
        })),
      );
      const changed = texts.filter(({ name, text }) => known.get(name) !== text);
      for (const isMaster of [false, true]) {
        const stage = changed.filter((each) => each.isMaster === isMaster);
        // Even the last playlists of a failed stream: caches must not keep them for the next attempt.
        const files = stage.map(({ name, text }) => ({
          file: name,
          content: bytesContent(Buffer.from(text)),
          growing: true,
        }));
        const failure = await storeAll(files, signal);
        if (failure) throw AppError.from(failure);
        for (const { name, text } of stage) known.set(name, text);
      }
    },
  };
}
