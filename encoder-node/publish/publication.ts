// Publishes a stream: uploads its segments while ffmpeg writes them, and all other files after ffmpeg has ended.
import { AppError, type Failure, failureOf } from "#shared/errors.ts";
import type { HttpStreamOutput, SegmentFormat } from "#shared/job/output-spec.ts";
import { messageOf } from "#shared/log.ts";
import type { PlannedTrack } from "#shared/plan/source/output-length.ts";
import type { StreamProbes } from "#shared/protocol/reports.ts";
import type { UploadedFile } from "#shared/protocol/uploads.ts";
import { err, ok, type Result } from "#shared/result.ts";
import type { Tool } from "../ffmpeg/discover/locate.ts";
import { endMs, lastEndMs } from "../package/spans.ts";
import { checkEnd, missingTrack, probeResult } from "../upload/made-file.ts";
import { followTracks } from "./follow-tracks.ts";
import { type LiveDeps, openLivePlaylists } from "./live-playlists.ts";
import { packageProbe } from "./package-probe.ts";
import { type PublicationOptions, segmentFormatOf } from "./publication-options.ts";
import { storeSubtitles } from "./store-subtitles.ts";
import { openPackage, type PackageFeeds } from "./stream-feeds.ts";
import { packageFiles, type SpriteSheet, type StreamPackage, spriteSheetsIn } from "./stream-package.ts";
import { type StreamFile, StreamStorage } from "./stream-storage.ts";
import type { MadeTrack, TrackFeed } from "./track-feed.ts";

export interface Publication {
  /** Aborts when the publication can no longer succeed, so that encoding for it can stop. */
  readonly broken: AbortSignal;
  /**
   * Reads the remaining segments after ffmpeg has succeeded. If the tracks are not as planned, it stops and rejects
   * with AppError `encoding_failed`. Ignores failures of the storage.
   */
  check(): Promise<void>;
  /** Bytes that are not stored yet. */
  waitingBytes(): number;
  /**
   * Stores the remaining files and then the files that players open, and returns the files that players open. `onBytes`
   * receives the number of waiting bytes that are stored. Rejects when the work is no longer needed.
   */
  finish(onBytes: (storedBytes: number) => void): Promise<Result<Published>>;
  /** Stops at once, and resolves when all uploads have ended. */
  stop(): Promise<void>;
}

export type Published = { readonly files: UploadedFile[]; readonly packages: StreamProbes };

export type PublicationDeps = LiveDeps & { readonly ffprobe: Tool };

/** Starts at once. Throws AppError `node_failed` when the spec lacks the key of an encrypted stream. */
export function openPublication(options: PublicationOptions, deps: PublicationDeps): Publication {
  const { planned, files } = options;
  const { thumbnails } = planned.stream;
  const packages = openPackages(options, deps);
  const feeds = packages.flatMap((each) => each.feeds);
  const storage = new StreamStorage(planned.output, deps);
  const live = options.spec.livePlaylist ? openLivePlaylists(options, packages, deps) : null;
  const following = followTracks(feeds, storage, deps.signal, () => live?.update());
  let sheets: readonly SpriteSheet[] = [];
  let isStopped = false;
  let isPublished = false;
  const stop = async (): Promise<void> => {
    isStopped = true;
    await Promise.all([storage.stop(), following.stop()]);
    if (!isPublished) await live?.end();
  };
  return {
    broken: AbortSignal.any([storage.broken, following.broken]),
    async check() {
      try {
        await following.finish();
        if (storage.hasFailed) return;
        for (const { feeds } of packages) checkTracks(feeds, planned.tracks);
        sheets = thumbnails ? await spriteSheetsIn(files, thumbnails) : [];
      } catch (error) {
        await stop();
        throw error;
      }
    },
    waitingBytes: () => storage.waitingBytes,
    async finish(onBytes) {
      const failure = await storage.settled(onBytes);
      if (failure) return err(failure);
      await live?.close();
      const { spec, folder } = options;
      const packaged = packages.map(({ name, variants, feeds }) => ({
        name,
        spec,
        folder,
        variants,
        tracks: madeBy(feeds),
      }));
      const texts = packaged.map((each) => ({ ...each, endMs: lastEndMs(each.tracks) }));
      const subtitles = await storeSubtitles(options.subtitles, texts, storage);
      if (!subtitles.ok) return subtitles;
      const rest = { subtitles: subtitles.value, thumbnails: thumbnails && { ...thumbnails, sheets } };
      const published = await storeRest(
        packaged.map((each) => ({ ...each, ...rest })),
        storage,
      );
      // A stopped storage ignores all files that are added.
      isPublished = published.ok && !isStopped;
      return published;
    },
    stop,
  };
}

const DEMUXERS = { mpegts: "mpegts", fmp4: "mov" } as const satisfies Record<SegmentFormat, string>;

function openPackages(options: PublicationOptions, deps: PublicationDeps): PackageFeeds[] {
  const { spec } = options;
  const names = (["hls", "dash"] as const).filter((name) => spec[name] !== null);
  return names.map((name) => {
    const format = segmentFormatOf(spec, name);
    return openPackage(name, options, {
      key: name === "hls" ? keyOf(spec) : null,
      probeFile: (path) => probeResult(path, deps, DEMUXERS[format]),
    });
  });
}

const madeBy = (feeds: readonly TrackFeed[]): MadeTrack[] => feeds.flatMap((feed) => feed.made() ?? []);

function keyOf({ encryption }: HttpStreamOutput): Buffer | null {
  if (!encryption) return null;
  if (encryption.key === null) throw new AppError("node_failed", "The task lacks the encryption key of a stream");
  return Buffer.from(encryption.key, "hex");
}

/** Stores the files that players open after all other files are stored. Returns them in the order of the packages. */
async function storeRest(packages: readonly StreamPackage[], storage: StreamStorage): Promise<Result<Published>> {
  const texts = await Promise.all(packages.map(packageFiles)).then(ok, (error: unknown) => err(playlistFailure(error)));
  if (!texts.ok) return texts;
  const files = texts.value;
  const uploaded: UploadedFile[] = [];
  const entries = files.flatMap((each) => each.entries);
  const stages: StreamFile[][] = [
    files.flatMap((each) => each.below),
    entries.map((entry, at) => ({
      ...entry,
      onStored: (file) => {
        uploaded[at] = file;
      },
    })),
  ];
  for (const stage of stages) {
    storage.add(stage);
    const failure = await storage.settled();
    if (failure) return err(failure);
  }
  const probes = packages.map(({ name, tracks, variants }) => [name, packageProbe(name, tracks, variants)]);
  return ok({ files: uploaded, packages: Object.fromEntries(probes) });
}

function playlistFailure(error: unknown): Failure {
  if (error instanceof AppError) return failureOf(error);
  return { code: "encoding_failed", message: `The playlists of the stream cannot be written: ${messageOf(error)}` };
}

// Compares the tracks of a stream with the plan. Pure.

/** Throws AppError `encoding_failed` when a track of a package has no segments, or ends too early. */
export function checkTracks(
  feeds: readonly Pick<TrackFeed, "kind" | "made">[],
  planned: readonly PlannedTrack[],
): void {
  for (const { kind, made } of feeds) {
    const track = made();
    if (!track) throw missingTrack(kind);
    const expected = planned.find((each) => each.kind === kind);
    if (expected) checkEnd(expected, endMs(track));
  }
}
