// A chunk of the film for all outputs that have one: the normal command, kept to the chunk's frames.
import type { Failure } from "../errors.ts";
import type { HttpStreamOutput, OutputSpec, VideoOutput } from "../job/output-spec.ts";
import type { ChunkSpan } from "../protocol/chunks.ts";
import { chunkArguments, chunkFile, NOWHERE } from "./chunks/chunk-muxers.ts";
import type { ChunkVideo, VideoSpan } from "./chunks/chunk-video.ts";
import { prerollOf } from "./chunks/chunkable.ts";
import { slotRate } from "./chunks/frame-slots.ts";
import type { FfmpegCapabilities } from "./command/capabilities.ts";
import { type CommandPart, type Refusal, refuse } from "./command/output-plan.ts";
import type { PlannedRun } from "./command/planned-command.ts";
import { seconds } from "./command/progress-ticks.ts";
import type { HardwareDevice } from "./encoders/hardware.ts";
import { devicesArguments, type EncodeRequest, type RunInputs, runOf } from "./plan-encode.ts";
import { isEncodedVideo } from "./plan-file.ts";
import { planStreamParts } from "./plan-stream.ts";
import { planVideoTrack } from "./plan-video-track.ts";
import { ptsOriginArguments, ptsOriginUs } from "./source/pts-origin.ts";
import { chooseTracks, type SourceTracks } from "./source/source-tracks.ts";
import { NO_TRIM } from "./source/trim.ts";

export type ChunkRequest = RunInputs &
  Pick<EncodeRequest, "probe" | "outputs"> & {
    /** The same for all chunks of a job: by it deinterlacers and encoders are chosen. */
    readonly capabilities: FfmpegCapabilities;
    readonly chunk: ChunkSpan;
    /** How long before the chunk decoding begins; left out: as long as the source needs. */
    readonly prerollMs?: number;
  };

/** A picture track's part, in a file of the run's folder. */
export type ChunkTrack = {
  readonly output: number;
  readonly track: string;
  readonly file: string;
  /** Null when nobody knows: of the last chunk of a track with another frame rate than the source. */
  readonly frames: number | null;
  /** When its first frame is shown, in µs on the film's line: ten seconds less than in the file. */
  readonly firstUs: number;
  readonly encoder: string;
  readonly inHardware: boolean;
};

export type ChunkPlan = {
  /** Null when every output was refused. */
  readonly command: { readonly runs: readonly PlannedRun[]; readonly tracks: readonly ChunkTrack[] } | null;
  readonly failures: readonly { readonly output: number; readonly failure: Failure }[];
};

/** The only picture of a file; streams name theirs. */
export const VIDEO_TRACK = "video";

/** Plans a chunk, with one decode, of outputs for which `whyNotChunked` knows no reason. */
export function planChunk(request: ChunkRequest): ChunkPlan {
  const { probe, outputs, capabilities: can, chunk } = request;
  const source = chooseTracks(probe);
  const span = { span: chunk, slotFps: slotRate(probe), passLog: "" };
  const results = outputs.map((spec) => ({ spec, result: picturesOf(spec, source, can, span) }));
  const refusals = results.flatMap(({ spec, result }) =>
    result.ok ? [] : [{ output: spec.index, failure: result.failure }],
  );
  const parts = results.flatMap(({ result }) => (result.ok ? result.parts : []));
  if (parts.length === 0) return { command: null, failures: refusals };
  // ffmpeg finds what a first pass wrote by the place of its picture among all.
  const first = parts.flatMap(({ firstPass, ...part }) => (firstPass ? { ...part, argv: firstPass } : []));
  const ordered = [...parts.filter(({ firstPass }) => firstPass), ...parts.filter(({ firstPass }) => !firstPass)];
  const head = devicesArguments(parts.map(({ device }) => device));
  const input = chunkInput(request, source);
  const runs = [
    ...(first.length === 0 ? [] : [runOf(request, source, first, input)]),
    runOf(request, source, ordered, input, head),
  ];
  return { command: { runs, tracks: parts.map(({ track }) => track) }, failures: refusals };
}

/** With the film's own times, from a little before the chunk on. */
function chunkInput({ probe, chunk, prerollMs: leadMs }: ChunkRequest, { format }: SourceTracks): string[] {
  const line = ptsOriginArguments(probe);
  const times = line.length > 0 ? line : ["-copyts", "-start_at_zero"];
  const lead = leadMs ?? prerollOf(format, chunk.longestGopMs);
  // Counted from the file's start.
  const fromMs = chunk.from === null || lead === null ? 0 : (chunk.from.splitUs + ptsOriginUs(probe)) / 1000 - lead;
  return fromMs > 0 ? [...times, "-noaccurate_seek", "-ss", seconds(fromMs)] : times;
}

type ChunkPart = CommandPart & {
  readonly track: ChunkTrack;
  readonly device: HardwareDevice | null;
  /** Null: one pass. */
  readonly firstPass: readonly string[] | null;
};
type ChunkParts = { readonly ok: true; readonly parts: readonly ChunkPart[] } | Refusal;

function picturesOf(
  spec: OutputSpec,
  source: SourceTracks,
  capabilities: FfmpegCapabilities,
  span: VideoSpan,
): ChunkParts {
  switch (spec.type) {
    case "video":
      return filmPicture(spec, source, capabilities, span);
    case "httpstream":
      return streamPictures(spec, source, capabilities, span);
    case "image":
      throw new Error("Pictures of a film are not made in chunks");
  }
}

function filmPicture(spec: VideoOutput, { video }: SourceTracks, can: FfmpegCapabilities, span: VideoSpan): ChunkParts {
  if (!video) return refuse("input_has_no_video");
  if (!spec.video || !isEncodedVideo(spec.video)) throw new Error("A copied picture is not made in chunks");
  const result = planVideoTrack(spec, spec.video, video, NO_TRIM, can, null, {
    ...span,
    passLog: `${spec.index}-pass`,
  });
  if (!result.ok) return result;
  const { picture } = result;
  const label = `v${spec.index}`;
  const file = chunkFile(spec.index, VIDEO_TRACK);
  const argv = ["-map", `[${label}]`, ...picture.argv, ...chunkArguments(file)];
  const named = { output: spec.index, track: VIDEO_TRACK, encoder: picture.encoder };
  const firstPass = picture.firstPass && ["-map", `[${label}]`, ...picture.firstPass, ...NOWHERE];
  const { device, chunk } = picture;
  return { ok: true, parts: [partOf(named, { label, filters: picture.filters }, argv, { device, chunk, firstPass })] };
}

function streamPictures(
  spec: HttpStreamOutput,
  source: SourceTracks,
  can: FfmpegCapabilities,
  span: VideoSpan,
): ChunkParts {
  const result = planStreamParts(spec, source, can, span);
  if (!result.ok) return result;
  const parts = result.videos.map(({ track, branch, argv, encoder, ...rest }) => {
    if (!branch) throw new Error("A picture without filters");
    return partOf({ output: spec.index, track: track.name, encoder }, branch, argv, rest);
  });
  return { ok: true, parts };
}

function partOf(
  named: Pick<ChunkTrack, "output" | "track" | "encoder">,
  branch: CommandPart["branches"][number],
  argv: readonly string[],
  { device, chunk, firstPass }: Pick<ChunkPart, "device" | "firstPass"> & { readonly chunk: ChunkVideo | null },
): ChunkPart {
  if (!chunk) throw new Error("A chunk was planned as a whole film");
  const { frames, firstUs } = chunk;
  const file = chunkFile(named.output, named.track);
  return {
    ...{ branches: [branch], argv, expectedFrames: frames, endMs: null, device, firstPass },
    track: { ...named, file, frames, firstUs, inHardware: device !== null },
  };
}
