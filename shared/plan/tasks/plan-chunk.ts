// Plans a chunk of the video for all outputs: the normal command, limited to the chunk's frames.
import type { Clip } from "../../job/clip.ts";
import type { HttpStreamOutput, OutputSpec, VideoOutput } from "../../job/output-spec.ts";
import type { ChunkSpan } from "../../protocol/chunks.ts";
import { err, ok, type Result } from "../../result.ts";
import { chunkArguments, chunkFile, NULL_OUTPUT } from "../chunks/chunk-muxers.ts";
import type { ChunkVideo, VideoSpan } from "../chunks/chunk-video.ts";
import { prerollOf } from "../chunks/chunkable-source.ts";
import { slotRate } from "../chunks/frame-slots.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import { seconds } from "../command/opening-arguments.ts";
import type { CommandPart, PlannedRun } from "../command/planned-run.ts";
import type { HardwareDevice } from "../encoders/hardware.ts";
import { fileTrim, isEncodedVideo } from "../outputs/plan-file.ts";
import { planStreamParts } from "../outputs/plan-stream-tracks.ts";
import { planVideoTrack } from "../outputs/plan-video-track.ts";
import { planRun, type RunInputs } from "../runs/plan-run.ts";
import { ptsOriginArguments, ptsOriginUs } from "../source/pts-origin.ts";
import { sourceFailure } from "../source/source-failures.ts";
import { chooseTracks, type SourceTracks } from "../source/source-tracks.ts";
import { trimArguments } from "../source/trim.ts";
import type { EncodeRequest, OutputFailure } from "./plan-encode.ts";

export type ChunkRequest = RunInputs &
  Pick<EncodeRequest, "probe" | "outputs"> & {
    /** The same for all chunks of a job, because they determine deinterlacer and encoder. */
    readonly capabilities: FfmpegCapabilities;
    readonly chunk: ChunkSpan;
    /** Time between the start of decoding and the chunk; left out: as long as the source needs. */
    readonly prerollMs?: number;
  };

/** The chunk of a video track, in a file of the run's folder. */
export type ChunkTrack = {
  readonly output: number;
  readonly track: string;
  readonly file: string;
  /** Null if unknown: for the last chunk of a track with another frame rate than the source. */
  readonly frames: number | null;
  /** Time of the first frame, in µs of the output: ten seconds less than in the file. */
  readonly firstUs: number;
  /** Time from the output's first frame to the chunk's first frame, in seconds. */
  readonly sinceStart: number;
  readonly encoder: string;
  readonly inHardware: boolean;
};

export type ChunkPlan = {
  /** Null if no output is possible. */
  readonly command: { readonly runs: readonly PlannedRun[]; readonly tracks: readonly ChunkTrack[] } | null;
  readonly failures: readonly OutputFailure[];
};

/** Name of a file's only video track. Streams have their own names. */
export const VIDEO_TRACK = "video";

/** Plans a chunk of several outputs with a single decode. `unchunkableReason` must return null for each output. */
export function planChunk(request: ChunkRequest): ChunkPlan {
  const { probe, outputs, capabilities, chunk } = request;
  const tracks = chooseTracks(probe);
  const span = { span: chunk, slotFps: slotRate(probe), passLog: "" };
  const results = outputs.map((spec) => ({ spec, result: planVideos(spec, tracks, capabilities, span) }));
  const failures = results.flatMap(({ spec, result }) =>
    result.ok ? [] : [{ output: spec.index, failure: result.error }],
  );
  const parts = results.flatMap(({ result }) => (result.ok ? result.value : []));
  if (parts.length === 0) return { command: null, failures };
  const run = { inputs: request, tracks, sourceOptions: chunkSourceOptions(request, tracks, outputs[0]?.clip) };
  const first = parts.flatMap(({ firstPass, ...part }) => (firstPass ? { ...part, argv: firstPass } : []));
  // ffmpeg finds the log of a first pass by the position of the video track, so tracks with two passes come first.
  const ordered = [...parts.filter(({ firstPass }) => firstPass), ...parts.filter(({ firstPass }) => !firstPass)];
  const runs = [
    ...(first.length === 0 ? [] : [planRun({ ...run, parts: first })]),
    planRun({ ...run, parts: ordered, devices: parts.map(({ device }) => device) }),
  ];
  return { command: { runs, tracks: parts.map(({ track }) => track) }, failures };
}

/** Options of the source that keep its own times, and start a little before the chunk of a clip. */
export function chunkSourceOptions(
  { probe, chunk, prerollMs }: Pick<ChunkRequest, "probe" | "chunk" | "prerollMs">,
  { format }: SourceTracks,
  clip: Clip | undefined,
): string[] {
  const origin = ptsOriginArguments(probe);
  const times = origin.length > 0 ? origin : ["-copyts", "-start_at_zero"];
  const preroll = prerollMs ?? prerollOf(format, chunk.longestGopMs);
  const startMs = chunk.from ? chunk.from.splitUs / 1000 : (clip?.startMs ?? 0);
  if (startMs === 0 || preroll === null) return times;
  // `-ss` counts from the start of the file.
  const fromMs = startMs + ptsOriginUs(probe) / 1000 - preroll;
  return fromMs > 0 ? [...times, "-noaccurate_seek", "-ss", seconds(fromMs)] : times;
}

type ChunkPart = CommandPart & {
  readonly track: ChunkTrack;
  readonly device: HardwareDevice | null;
  /** Null: one pass. */
  readonly firstPass: readonly string[] | null;
};

function planVideos(
  spec: OutputSpec,
  source: SourceTracks,
  capabilities: FfmpegCapabilities,
  span: VideoSpan,
): Result<ChunkPart[]> {
  switch (spec.type) {
    case "video":
      return videoOfFile(spec, source, capabilities, span);
    case "httpstream":
      return videosOfStream(spec, source, capabilities, span);
    case "image":
    case "text":
      throw new Error("Image outputs are not encoded in chunks");
  }
}

function videoOfFile(
  spec: VideoOutput,
  source: SourceTracks,
  capabilities: FfmpegCapabilities,
  span: VideoSpan,
): Result<ChunkPart[]> {
  const { index, video } = spec;
  const { video: track } = source;
  if (!track) return err(sourceFailure("input_has_no_video"));
  if (!video || !isEncodedVideo(video)) throw new Error("Copied video is not encoded in chunks");
  const trim = { ...fileTrim(spec, source), seekMs: 0 };
  const trimming = trimArguments(trim);
  const chunkOf = { ...span, passLog: `${index}-pass` };
  const planned = planVideoTrack({ output: spec, video, track, trim, capabilities, span: chunkOf });
  if (!planned.ok) return planned;
  const { argv, firstPass, filters } = planned.value;
  const label = `v${index}`;
  return ok([
    chunkPart(index, VIDEO_TRACK, {
      ...planned.value,
      branch: { label, filters },
      argv: ["-map", `[${label}]`, ...argv, ...trimming, ...chunkArguments(chunkFile(index, VIDEO_TRACK))],
      firstPass: firstPass && ["-map", `[${label}]`, ...firstPass, ...trimming, ...NULL_OUTPUT],
    }),
  ]);
}

function videosOfStream(
  spec: HttpStreamOutput,
  source: SourceTracks,
  capabilities: FfmpegCapabilities,
  span: VideoSpan,
): Result<ChunkPart[]> {
  const stream = planStreamParts({ spec, source, capabilities, chunked: { seekMs: 0 }, span });
  if (!stream.ok) return stream;
  return ok(stream.value.videos.map((part) => chunkPart(spec.index, part.track.name, part)));
}

type PlannedChunk = Pick<ChunkPart, "argv" | "device" | "firstPass"> & {
  readonly branch: CommandPart["branches"][number];
  readonly encoder: string;
  readonly chunk: ChunkVideo | null;
};

function chunkPart(output: number, track: string, planned: PlannedChunk): ChunkPart {
  const { branch, argv, device, firstPass, encoder, chunk } = planned;
  if (!chunk) throw new Error("A chunk was planned as a whole video");
  const { frames, firstUs, sinceStart } = chunk;
  const file = chunkFile(output, track);
  return {
    branches: [branch],
    argv,
    expectedFrames: frames,
    endMs: null,
    device,
    firstPass,
    track: { output, track, encoder, file, frames, firstUs, sinceStart, inHardware: device !== null },
  };
}
