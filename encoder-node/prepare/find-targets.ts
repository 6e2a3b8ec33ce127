// Finds the rate factors of outputs for which a VMAF is requested, before they are encoded.
import { type HttpStreamOutput, hasTracks, type OutputSpec, type VideoOutput } from "#shared/job/output-spec.ts";
import type { TargetMetadata } from "#shared/job/quality-target.ts";
import { gridSeconds } from "#shared/plan/command/keyframe-grid.ts";
import type { EncodedVideo } from "#shared/plan/encoders/video-encode-options.ts";
import { isEncodedVideo } from "#shared/plan/outputs/plan-file.ts";
import { asFile } from "#shared/plan/outputs/plan-stream-tracks.ts";
import type { SourceTracks, VideoTrack } from "#shared/plan/source/source-tracks.ts";
import { renditionPart } from "#shared/plan/streams/stream-clip.ts";
import { variantsFor } from "#shared/plan/streams/stream-variants.ts";
import type { SearchedVideo } from "#shared/plan/vmaf/plan-probes.ts";
import type { KeyframeGroup } from "#shared/plan/vmaf/sample-windows.ts";
import { similarVideos } from "#shared/plan/vmaf/similar-videos.ts";
import type { Tool } from "../ffmpeg/discover/locate.ts";
import { readKeyframeGroups } from "../quality/keyframe-groups.ts";
import { type SearchDeps, searchRateFactors } from "../quality/search-rate-factor.ts";
import { type ReadInputs, type RunDeps, runIn } from "../workspace/run-planned.ts";
import type { TaskSource } from "../workspace/task-source.ts";

export type TargetWork = ReadInputs &
  TaskSource & {
    /** The part of the source that is encoded, in ms from the start of the file; absent: all. */
    readonly range?: { readonly fromMs: number; readonly toMs: number };
  };

export type FoundTargets = {
  /** The outputs with the rate factors that were found, and without similar videos. */
  readonly outputs: readonly OutputSpec[];
  /** By output. */
  readonly reports: ReadonlyMap<number, TargetMetadata[]>;
};

type Range = { readonly fromMs: number; readonly toMs: number };
/** A video of an output; `variant` is its place in the request of a stream. */
type Wanted = SearchedVideo & { readonly range: Range; readonly variant: number | null };

type TargetDeps = RunDeps & Omit<SearchDeps, "folder" | "run"> & { readonly ffprobe: Tool };

/** Searches for all outputs with a requested VMAF. Does nothing without such outputs. Throws when the signal aborts. */
export async function findTargets(
  work: TargetWork,
  outputs: readonly OutputSpec[],
  deps: TargetDeps,
): Promise<FoundTargets> {
  const wanted = outputs.flatMap((spec) => videosOf(spec, work.tracks, work.range ?? null));
  const reports = new Map<number, TargetMetadata[]>();
  const specs = [...outputs];
  /** Bitrate of the samples with the rate factor that was found for a video of an output. */
  const kbps = new Map<string, number>();
  const groups = await groupsOf(work, wanted, deps);
  // Videos that show the same part of the source share its samples.
  const sameRange = Map.groupBy(wanted, ({ range: { fromMs, toMs } }) => `${fromMs} ${toMs}`);
  for (const videos of sameRange.values()) {
    const [first] = videos;
    if (!first) continue;
    const unique = [...new Map(videos.map((video) => [searchOf(video), video])).values()];
    const { network, burns } = work;
    const run: SearchDeps["run"] = async (planned, cwd, reads) =>
      (await runIn(cwd, planned, () => undefined, { ...deps, reads, network, burns })) === null;
    const results = await searchRateFactors(
      { ...work, videos: unique, range: first.range, groups },
      { ...deps, folder: work.folder, run },
    );
    for (const video of videos) {
      const result = results[unique.findIndex((candidate) => searchOf(candidate) === searchOf(video))];
      if (!result || result.rate_factor === 0) continue;
      const { index } = video.output;
      if (result.samples) kbps.set(keyOf(index, video.video), result.samples.kbps);
      if (unique.includes(video)) reports.set(index, [...(reports.get(index) ?? []), result]);
      const at = specs.findIndex((spec) => spec.index === index);
      const spec = specs[at];
      if (spec) specs[at] = withRateFactor(spec, video.variant, result.rate_factor);
    }
  }
  // The control plane leaves out videos of chunked streams.
  if (work.range) return { outputs: specs, reports };
  return { outputs: specs.map((spec, at) => withoutSimilar(spec, outputs[at], work.tracks, kbps)), reports };
}

/**
 * Streams that drop similar variants know which variants these are: videos that save few bits are left out before
 * anything is encoded.
 */
function withoutSimilar(
  spec: OutputSpec,
  requested: OutputSpec | undefined,
  tracks: SourceTracks,
  kbps: ReadonlyMap<string, number>,
): OutputSpec {
  if (spec.type !== "httpstream" || requested?.type !== "httpstream") return spec;
  const dropped = similarVideos(requested, tracks, (_, video) => kbps.get(keyOf(spec.index, video)) ?? null);
  return dropped.length > 0 ? { ...spec, dropped } : spec;
}

/** Groups of samples, for a whole source on this node's disk: a chunk has room for a sample or two. */
const groupsOf = async (work: TargetWork, wanted: readonly Wanted[], deps: TargetDeps): Promise<KeyframeGroup[]> =>
  wanted.length === 0 || work.loopbackOptions || work.range ? [] : readKeyframeGroups(work, deps);

/** Equal videos of an output, such as variants with different audio, are searched once. */
const searchOf = ({ output, video, gridSeconds: grid }: Wanted): string => keyOf(output.index, video, grid);
const keyOf = (output: number, video: EncodedVideo, grid?: number): string => JSON.stringify([output, video, grid]);

function videosOf(spec: OutputSpec, source: SourceTracks, range: Range | null): Wanted[] {
  const { video: track } = source;
  if (!track || !hasTracks(spec)) return [];
  if (spec.type === "httpstream") return renditionsOf(spec, source, track, range);
  const { video } = spec;
  const videoRange = range ?? rangeOf(spec, track);
  if (!video || !isEncodedVideo(video) || !isUnknown(video) || !videoRange) return [];
  return [{ output: spec, video, range: videoRange, variant: null }];
}

/** True if a VMAF is requested and its rate factor is still unknown. */
const isUnknown = ({ rate }: EncodedVideo): boolean => "vmaf" in rate && rate.rateFactor === null;

function renditionsOf(spec: HttpStreamOutput, source: SourceTracks, track: VideoTrack, range: Range | null): Wanted[] {
  const videoRange = range ?? rangeOf(renditionPart(spec, track), track);
  if (!videoRange) return [];
  return spec.variants.flatMap((format, variant): Wanted[] => {
    const [video]: (EncodedVideo | undefined)[] = [...variantsFor({ ...spec, variants: [format] }, source).videos];
    if (!video || !isUnknown(video)) return [];
    const grid = gridSeconds(spec.segmentDurationMs);
    return [{ output: asFile(spec, video, track), video, gridSeconds: grid, range: videoRange, variant }];
  });
}

/** The part of the source that an output shows; null if the length of the source is unknown. */
function rangeOf(
  { offsetMs, durationMs }: Pick<VideoOutput, "offsetMs" | "durationMs">,
  track: VideoTrack,
): Range | null {
  const endMs = track.durationMs === null ? null : track.startMs + track.durationMs;
  const toMs = durationMs === null ? endMs : Math.min(endMs ?? Number.POSITIVE_INFINITY, offsetMs + durationMs);
  return toMs === null || toMs <= offsetMs ? null : { fromMs: Math.max(offsetMs, track.startMs), toMs };
}

function withRateFactor(spec: OutputSpec, variant: number | null, rateFactor: number): OutputSpec {
  if (spec.type === "video" && spec.video) return { ...spec, video: withFactor(spec.video, rateFactor) };
  if (spec.type !== "httpstream") return spec;
  const variants = spec.variants.map((format, at) =>
    at === variant && format.video ? { ...format, video: withFactor(format.video, rateFactor) } : format,
  );
  return { ...spec, variants };
}

const withFactor = <Video extends NonNullable<VideoOutput["video"]>>(video: Video, rateFactor: number): Video =>
  "vmaf" in video.rate ? { ...video, rate: { ...video.rate, rateFactor } } : video;
