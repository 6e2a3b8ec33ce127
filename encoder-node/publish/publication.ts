// Publishes a stream: uploads its segments while ffmpeg writes them, and all other files after ffmpeg has ended.
import type { OutputSpec } from "#shared/job/output-spec.ts";
import { streamFolder } from "#shared/job/stream-files.ts";
import type { PlannedOutput } from "#shared/plan/outputs/output-plan.ts";
import type { PlannedTrack } from "#shared/plan/source/output-length.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";
import { err, type Result } from "#shared/result.ts";
import { endMs, lastEndMs } from "../package/spans.ts";
import type { RunFiles } from "../run-files/run-files.ts";
import type { SubtitleFiles } from "../text/subtitle-cues.ts";
import { checkEnd, missingTrack, type ProbeDeps } from "../upload/made-file.ts";
import { followTracks } from "./follow-tracks.ts";
import { type LiveDeps, openLivePlaylists } from "./live-playlists.ts";
import { type Published, type SpriteSheet, spriteSheetsIn, storePackages, storeSubtitles } from "./store-package.ts";
import { openPackages, type PublicationOptions } from "./stream-feeds.ts";
import { StreamStorage } from "./stream-storage.ts";
import type { TrackFeed } from "./track-feed.ts";

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

export type PublicationDeps = LiveDeps & ProbeDeps;

/** Starts at once. Throws AppError `node_failed` when the spec lacks the key of an encrypted stream. */
export function openPublication(options: PublicationOptions, deps: PublicationDeps): Publication {
  const { planned, files } = options;
  const { thumbnails, chapters } = planned.stream;
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
      const packaged = packages.map(({ feeds, ...each }) => {
        return { ...each, spec, folder, tracks: feeds.flatMap((feed) => feed.made() ?? []) };
      });
      const texts = packaged.map((each) => ({ ...each, endMs: lastEndMs(each.tracks) }));
      const subtitles = await storeSubtitles(options.subtitles, texts, storage);
      if (!subtitles.ok) return subtitles;
      const rest = { subtitles: subtitles.value, thumbnails: thumbnails && { ...thumbnails, sheets }, chapters };
      const published = await storePackages(
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

// The publications of a task. Each run of ffmpeg starts new publications, each in its own folder.

export interface Publisher {
  /** Starts to publish the streams among these outputs, which ffmpeg will write. */
  follow(outputs: readonly PlannedOutput[], files: RunFiles, subtitles: SubtitleFiles): Promise<Publications>;
  /** Stops all publications. */
  stop(): Promise<void>;
}

/** Publications by output. */
export type Publications = ReadonlyMap<number, Publication>;

/** `specs` are the outputs of the task. */
export function openPublisher(
  specs: readonly OutputSpec[],
  deps: PublicationDeps & { readonly assignment: Assignment },
): Publisher {
  const started: Publication[] = [];
  /** The number of publications by output. */
  const runs = new Map<number, number>();
  return {
    async follow(outputs, files, subtitleFiles) {
      const publications = new Map<number, Publication>();
      for (const { stream, ...planned } of outputs) {
        const spec = specs.find(({ index }) => index === planned.output);
        if (!stream || spec?.type !== "httpstream") continue;
        const subtitles = subtitleFiles.get(spec.index) ?? [];
        const run = (runs.get(spec.index) ?? 0) + 1;
        runs.set(spec.index, run);
        const folder = streamFolder(deps.assignment.lease, run);
        const publication = openPublication({ spec, planned: { ...planned, stream }, files, folder, subtitles }, deps);
        started.push(publication);
        publications.set(spec.index, publication);
      }
      return publications;
    },
    async stop() {
      await Promise.all(started.map((publication) => publication.stop()));
    },
  };
}
