// One stream on its way to the storage: its segments while ffmpeg writes them, the rest when it has ended.
import { AppError, type Failure } from "#shared/errors.ts";
import type { HttpStreamOutput, SegmentFormat } from "#shared/job/output-spec.ts";
import { messageOf } from "#shared/log.ts";
import type { PlannedOutput } from "#shared/plan/command/output-plan.ts";
import type { PlannedStream } from "#shared/plan/streams/planned-stream.ts";
import type { StreamProbes, UploadedFile } from "#shared/protocol/protocol.ts";
import type { TaskDeps } from "../task/task-deps.ts";
import { probeResult } from "../upload/made-file.ts";
import { checkTracks } from "./check-tracks.ts";
import { followTracks } from "./follow-tracks.ts";
import { packageProbe } from "./package-probe.ts";
import { type SubtitleFile, storeSubtitles } from "./store-subtitles.ts";
import { openPackage, type PackageFeeds, segmentFormatOf } from "./stream-feeds.ts";
import { packageFiles, type Sheet, type StreamPackage, sheetsIn } from "./stream-package.ts";
import { openStreamStorage, type StreamFile, type StreamStorage } from "./stream-storage.ts";
import type { MadeTrack, TrackFeed } from "./track-feed.ts";

export interface Publication {
  /** Aborts when it cannot come to a good end any more: what is still encoded for it is of no use. */
  readonly broken: AbortSignal;
  /**
   * Reads what is left of the tracks when ffmpeg has ended well. Rejects with AppError `encoding_failed` when they are not
   * what was planned, and stops then. Trouble with the storage is no matter of it.
   */
  check(): Promise<void>;
  /** Bytes that wait to be stored. */
  waitingBytes(): number;
  /**
   * Stores what is left, last of all the files that players open, and answers those. `onBytes` is told how much of what
   * waited is stored. Rejects when the work is no longer wanted.
   */
  finish(onBytes: (storedBytes: number) => void): Promise<Published | { failure: Failure }>;
  /** Stops at once, wherever it is; resolves when nothing is under way. */
  stop(): Promise<void>;
}

export type Published = { readonly files: UploadedFile[]; readonly packages: StreamProbes };

export type PublicationOptions = {
  readonly spec: HttpStreamOutput;
  readonly planned: PlannedOutput & { readonly stream: PlannedStream };
  /** Where ffmpeg writes. */
  readonly workFolder: string;
  /** The stream's folder, below that of each package. */
  readonly folder: string;
  readonly subtitles: readonly SubtitleFile[];
};

export type PublicationDeps = Pick<TaskDeps, "askUploads" | "storages" | "signal" | "ffprobe">;

/** Begins at once. Throws AppError `node_failed` when the key of a stream that is to be encrypted did not come with it. */
export function openPublication(options: PublicationOptions, deps: PublicationDeps): Publication {
  const { planned, workFolder } = options;
  const { thumbnails } = planned.stream;
  const packages = openPackages(options, deps);
  const feeds = packages.flatMap((each) => each.feeds);
  const storage = openStreamStorage(planned.output, deps);
  const following = followTracks(feeds, storage, deps.signal);
  let sheets: readonly Sheet[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all([storage.stop(), following.stop()]);
  };
  return {
    broken: AbortSignal.any([storage.broken, following.broken]),
    async check() {
      try {
        await following.finish();
        if (storage.failed()) return;
        for (const { variants, feeds } of packages) checkTracks(variants, feeds, planned.expectedDurationMs);
        sheets = thumbnails ? await sheetsIn(workFolder, thumbnails) : [];
      } catch (error) {
        await stop();
        throw error;
      }
    },
    waitingBytes: storage.waitingBytes,
    async finish(onBytes) {
      const failure = await storage.settled(onBytes);
      if (failure) return { failure };
      const { spec, folder } = options;
      const made = packages.map(({ name, variants, feeds }) => ({
        name,
        spec,
        folder,
        variants,
        tracks: madeBy(feeds),
      }));
      const texts = await storeSubtitles(options.subtitles, made, storage);
      if ("failure" in texts) return texts;
      const rest = { ...texts, thumbnails: thumbnails && { ...thumbnails, sheets } };
      return storeRest(
        made.map((each) => ({ ...each, ...rest })),
        storage,
      );
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
  if (encryption.key === null) throw new AppError("node_failed", "The task came without the key of a stream");
  return Buffer.from(encryption.key, "hex");
}

/** The fence between what players open and all else is here: the one is stored when the other is. */
async function storeRest(
  packages: readonly StreamPackage[],
  storage: StreamStorage,
): Promise<Published | { failure: Failure }> {
  const files = await Promise.all(packages.map(packageFiles)).catch(textFailure);
  if ("failure" in files) return files;
  const uploaded: UploadedFile[] = [];
  const entries = files.flatMap((each) => each.entries);
  const stages: StreamFile[][] = [
    files.flatMap((each) => each.below),
    entries.map((entry) => ({ ...entry, onStored: (file) => uploaded.push(file) })),
  ];
  for (const stage of stages) {
    storage.add(stage);
    const failure = await storage.settled();
    if (failure) return { failure };
  }
  const probes = packages.map(({ name, tracks, variants }) => [name, packageProbe(name, tracks, variants)]);
  return { files: uploaded, packages: Object.fromEntries(probes) };
}

function textFailure(error: unknown): { failure: Failure } {
  if (error instanceof AppError) return { failure: { code: error.code, message: error.message } };
  const message = `The playlists of the stream cannot be written: ${messageOf(error)}`;
  return { failure: { code: "encoding_failed", message } };
}
