// The tracks and variants of a package: separate tracks, or video and audio muxed in the same segments.
import { AppError } from "#shared/errors.ts";
import type { HttpStreamOutput, SegmentFormat } from "#shared/job/output-spec.ts";
import type { PlannedOutput } from "#shared/plan/outputs/output-plan.ts";
import type { PlannedStream, StreamTrack, StreamVariant } from "#shared/plan/streams/planned-stream.ts";
import { muxedReader, sharedReaders } from "../package/muxed-reader.ts";
import { inStreamFolder, segmentNumber } from "../package/package-files.ts";
import { fmp4Reader, type TrackReader, tsReader } from "../package/track-reader.ts";
import type { RunFiles } from "../run-files/run-files.ts";
import type { SubtitleFile } from "../text/subtitle-cues.ts";
import { type ProbeDeps, probeResult } from "../upload/made-file.ts";
import { type PackageName, segmentFormatOf } from "./store-package.ts";
import { type FeedOptions, openFeed, type TrackFeed } from "./track-feed.ts";

export type PublicationOptions = {
  readonly spec: HttpStreamOutput;
  readonly planned: PlannedOutput & { readonly stream: PlannedStream };
  /** The files that ffmpeg writes. */
  readonly files: RunFiles;
  /** The stream's folder, below the folder of each package. */
  readonly folder: string;
  readonly subtitles: readonly SubtitleFile[];
};

export type PackageFeeds = {
  readonly name: PackageName;
  /** Combinations of the package's tracks, in the order of the request. */
  readonly variants: readonly StreamVariant[];
  readonly feeds: readonly TrackFeed[];
};

const DEMUXERS = { mpegts: "mpegts", fmp4: "mov" } as const satisfies Record<SegmentFormat, string>;

/**
 * Opens the tracks of all packages, which ffmpeg writes now or later. Throws AppError `node_failed` when the spec lacks
 * the key of an encrypted stream.
 */
export function openPackages(options: PublicationOptions, deps: ProbeDeps): PackageFeeds[] {
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

function keyOf({ encryption }: HttpStreamOutput): Buffer | null {
  if (!encryption) return null;
  if (encryption.key === null) throw new AppError("node_failed", "The task lacks the encryption key of a stream");
  return Buffer.from(encryption.key, "hex");
}

function openPackage(
  name: PackageName,
  { spec, planned, files, folder }: PublicationOptions,
  { key, probeFile }: Pick<FeedOptions, "key" | "probeFile">,
): PackageFeeds {
  const format = segmentFormatOf(spec, name);
  const fileOf = (track: StreamTrack): string | null => (format === "mpegts" ? track.ts : track.fmp4);
  const tracks = planned.stream.tracks.filter((track) => fileOf(track) !== null);
  const names = new Set<string | null>([null, ...tracks.map((track) => track.name)]);
  const variants = planned.stream.variants.filter(({ video, audio }) => names.has(video) && names.has(audio));
  const segmentSeconds = spec.segmentDurationMs / 1000;
  const readerOf = (track: StreamTrack): TrackReader => {
    const options = { files, file: fileOf(track) ?? "", segmentSeconds, kind: track.kind };
    // The quality of a track is measured after the whole track is encoded.
    const keepsFiles = spec.measuresQuality === true && track.kind === "video" && track.fmp4 === null;
    return format === "mpegts" ? tsReader({ ...options, keepsFiles }) : fmp4Reader(options);
  };
  const feedOf = ({ track, reader }: TrackSource): TrackFeed =>
    openFeed({ track, format, reader, key, probeFile, folder: inStreamFolder(name, folder) });
  if (name !== "hls" || !spec.hls?.muxed) {
    return { name, variants, feeds: tracks.map((track) => feedOf({ track, reader: readerOf(track) })) };
  }
  const pathOf = (variant: string, number: number): string =>
    files.pathOf(`${planned.output}-${variant}-muxed-${segmentNumber(number)}.ts`);
  const muxed = muxVariants(tracks, variants, { readerOf, segmentSeconds, pathOf });
  return { name, variants: muxed.map(({ variant }) => variant), feeds: muxed.map(feedOf) };
}

type TrackSource = { readonly track: StreamTrack; readonly reader: TrackReader };

type MuxOptions = {
  readonly readerOf: (track: StreamTrack) => TrackReader;
  readonly segmentSeconds: number;
  readonly pathOf: (variant: string, number: number) => string;
};

/** Returns a track for each variant, with its video and its audio. */
function muxVariants(
  tracks: readonly StreamTrack[],
  variants: readonly StreamVariant[],
  { readerOf, segmentSeconds, pathOf }: MuxOptions,
): (TrackSource & { readonly variant: StreamVariant })[] {
  const readers = new Map(
    tracks.map((track) => {
      const uses = variants.filter(({ video, audio }) => video === track.name || audio === track.name).length;
      return [track.name, { track, left: sharedReaders(readerOf(track), uses) }] as const;
    }),
  );
  const take = (name: string | null): TrackSource | null => {
    const shared = name === null ? undefined : readers.get(name);
    const reader = shared?.left.shift();
    return shared && reader ? { track: shared.track, reader } : null;
  };
  const videos = variants.map((variant) => variant.video);
  return variants.flatMap(({ video, audio }) => {
    const [videoSource, audioSource] = [take(video), take(audio)];
    const first = videoSource ?? audioSource;
    if (!first) return [];
    if (!videoSource || !audioSource) return [{ ...first, variant: { video, audio } }];
    // The track has the name of its video. If variants combine the same video with different audio, it has both names.
    const isShared = videos.filter((other) => other === video).length > 1;
    const name = isShared ? `${videoSource.track.name}-${audioSource.track.name}` : videoSource.track.name;
    const reader = muxedReader({
      video: videoSource.reader,
      audio: audioSource.reader,
      segmentSeconds,
      pathOf: (number) => pathOf(name, number),
    });
    return [{ track: { ...videoSource.track, name }, reader, variant: { video: name, audio: null } }];
  });
}
