// A stream: every distinct track of its variants, encoded once, all from one decode.

import type { HttpStreamOutput, VideoOutput } from "../job/output-spec.ts";
import { undecodableFailure } from "../media/choose-streams.ts";
import { chunkArguments, chunkFile, NOWHERE, streamAudioArguments } from "./chunks/chunk-muxers.ts";
import type { VideoSpan } from "./chunks/chunk-video.ts";
import type { FfmpegCapabilities } from "./command/capabilities.ts";
import type { Branch } from "./command/filter-graph.ts";
import { type OutputPlan, type PlanResult, type Refusal, refuse } from "./command/output-plan.ts";
import { audioArguments, type EncodedAudio } from "./encoders/audio-encoders.ts";
import { audioEncoder, encoderFailure } from "./encoders/choose-encoder.ts";
import type { HardwareDevice } from "./encoders/hardware.ts";
import { gridSeconds } from "./encoders/keyframe-grid.ts";
import type { EncodedVideo } from "./encoders/video-encoders.ts";
import { undecodableAudioNote } from "./plan-file.ts";
import { type PlannedVideoTrack, planVideoTrack } from "./plan-video-track.ts";
import { frameCount, isExact, lastEnd, lengthOf } from "./source/output-length.ts";
import type { AudioTrack, SourceTracks, VideoTrack } from "./source/source-tracks.ts";
import { NO_TRIM } from "./source/trim.ts";
import type { StreamTrack } from "./streams/planned-stream.ts";
import { streamArguments, streamFiles } from "./streams/stream-muxers.ts";
import { planThumbnails } from "./streams/stream-thumbnails.ts";
import { hasFragments, hasMpegTs, type Variant, variantsFor } from "./streams/stream-variants.ts";

/** Plans one stream. Refused is what its source has no tracks for, and what codec or node cannot do. */
export function planStream(spec: HttpStreamOutput, source: SourceTracks, can: FfmpegCapabilities): PlanResult {
  const lost = source.video ? source.audio?.undecodable : null;
  const parts = planStreamParts(spec, source, can);
  if (!parts.ok) return parts;
  const { variants, videos: pictures, audios: sounds, thumbnails } = parts;
  const tracks = [...pictures, ...sounds];
  const nameOf = (of: unknown): string | null =>
    tracks.find(({ key }) => key === JSON.stringify(of))?.track.name ?? null;
  const stream = {
    tracks: tracks.map(({ track }) => track),
    variants: variants.map(({ video, audio }) => ({ video: video && nameOf(video), audio: audio && nameOf(audio) })),
    thumbnails: thumbnails?.thumbnails ?? null,
  };
  return {
    ok: true,
    plan: assemble(
      spec,
      source,
      [...tracks, ...(thumbnails ? [thumbnails] : [])],
      stream,
      lost ? undecodableAudioNote(lost) : null,
    ),
  };
}

/** A stream in parts, any of which can be made by itself. */
export type StreamParts = {
  readonly variants: readonly Variant[];
  readonly videos: readonly TrackPart[];
  readonly audios: readonly TrackPart[];
  /** Null: none. */
  readonly thumbnails: Extract<ReturnType<typeof planThumbnails>, { ok: true }> | null;
};

/**
 * With `part` its pictures are those of a chunk: in fragmented MP4 alone, in files named as those of the whole. Sound then is
 * in fragmented MP4 alone too.
 */
export function planStreamParts(
  spec: HttpStreamOutput,
  tracks: SourceTracks,
  can: FfmpegCapabilities,
  part: VideoSpan | "sound" | null = null,
): ({ readonly ok: true } & StreamParts) | Refusal {
  const blind = (tracks.video ?? tracks.audio)?.undecodable;
  if (blind) return { ok: false, failure: undecodableFailure(blind) };
  // Sound that cannot be decoded is as good as none.
  const source = tracks.audio?.undecodable ? { ...tracks, audio: null } : tracks;
  const variants = variantsFor(spec, source);
  if (variants.length === 0) return refuse(source.video ? "input_has_no_audio" : "input_has_no_video");
  const pictures = planPictures(spec, source.video, variants, can, part === "sound" ? null : part);
  if (!pictures.ok) return pictures;
  const sounds = planSounds(spec, source.audio, variants, can, part !== null);
  if (!sounds.ok) return sounds;
  const thumbnails = spec.thumbnails && source.video ? planThumbnails(spec, source, can) : null;
  if (thumbnails && !thumbnails.ok) return thumbnails;
  return { ok: true, variants, videos: pictures.tracks, audios: sounds.tracks, thumbnails };
}

/** A part of the command: a track, or the thumbnails. */
type Part = {
  readonly branch: Branch | null;
  readonly argv: readonly string[];
  readonly expectedFrames: number | null;
};

export type TrackPart = Part & {
  /** The specification that it was made from, as text. */
  readonly key: string;
  readonly track: StreamTrack;
  readonly encoder: string;
  readonly device: HardwareDevice | null;
  /** Of a chunk's picture, and the first of its two passes if it has them. */
  readonly chunk: PlannedVideoTrack["chunk"];
  readonly firstPass: readonly string[] | null;
};

type Tracks = { readonly ok: true; readonly tracks: readonly TrackPart[] } | Refusal;

function planPictures(
  spec: HttpStreamOutput,
  source: VideoTrack | null,
  variants: readonly Variant[],
  can: FfmpegCapabilities,
  part: VideoSpan | null,
): Tracks {
  const tracks: TrackPart[] = [];
  const asked = distinct(variants.map(({ video }) => video));
  if (!source) return { ok: true, tracks };
  for (const video of asked) {
    const result = planVideoTrack(
      asFilm(spec, video, source),
      video,
      source,
      NO_TRIM,
      can,
      gridSeconds(spec.segmentDurationMs),
      part && { ...part, passLog: `${spec.index}-${tracks.length}-pass` },
    );
    if (!result.ok) return result;
    tracks.push(pictureTrack(spec, video, source, result.picture, tracks));
  }
  return { ok: true, tracks };
}

/** The film that a rendition would be by itself. */
const asFilm = (spec: HttpStreamOutput, video: EncodedVideo, source: VideoTrack): VideoOutput => ({
  ...{ index: spec.index, key: spec.key, format: spec.format, condition: null, path: "" },
  ...{ type: "video", container: "mp4", video, audio: null, keepsMetadata: false, fragmented: true },
  ...{ fit: "pad", transpose: null, vflip: false, hflip: false, watermark: null },
  ...{ offsetMs: 0, durationMs: null },
  // Screens show whole frames, and players of streams do not make them (Apple's HLS authoring specification §1.15).
  deinterlace: source.interlaced,
});

/**
 * Frames that are reordered are decoded two frame distances before they are shown. hls.js begins with the first one decoded:
 * of slow films it would skip the beginning, and with frames 5 s apart even the line of time stamps has no room for that.
 */
const REORDERING_FPS = 20;

function pictureTrack(
  spec: HttpStreamOutput,
  video: EncodedVideo,
  source: VideoTrack,
  picture: PlannedVideoTrack,
  before: readonly TrackPart[],
): TrackPart {
  const { frame, timing, encoder, device, chunk } = picture;
  const side = `${Math.min(frame.width, frame.height)}p`;
  const name = unusedName(video.codec === "hevc" ? `${side}-hevc` : side, before);
  const label = `v${spec.index}t${before.length}`;
  // Apple has HEVC in fragmented MP4 only (HLS authoring specification §1.5), and so have browsers.
  const files = streamFiles(`${spec.index}-${name}`, {
    fmp4: hasFragments(spec),
    ts: hasMpegTs(spec) && video.codec === "h264",
  });
  const order = timing.fps < REORDERING_FPS ? ["-bf", "0"] : [];
  const written = chunk
    ? chunkArguments(chunkFile(spec.index, name))
    : streamArguments(files, "video", spec.segmentDurationMs);
  return {
    key: JSON.stringify(video),
    track: { name, kind: "video", ...files, video: { frame, fps: timing.fps } },
    branch: { label, filters: picture.filters },
    argv: ["-map", `[${label}]`, ...picture.argv, ...order, ...written],
    firstPass: picture.firstPass && ["-map", `[${label}]`, ...picture.firstPass, ...order, ...NOWHERE],
    expectedFrames: chunk ? chunk.frames : frameCount(NO_TRIM, picture, source),
    ...{ encoder, device, chunk },
  };
}

function planSounds(
  spec: HttpStreamOutput,
  source: AudioTrack | null,
  variants: readonly Variant[],
  can: FfmpegCapabilities,
  alone: boolean,
): Tracks {
  const tracks: TrackPart[] = [];
  const encoder = audioEncoder("aac", can);
  if (!source) return { ok: true, tracks };
  if (!encoder) return { ok: false, failure: encoderFailure("aac") };
  for (const audio of distinct(variants.map((variant) => variant.audio))) {
    const name = unusedName(audioName(audio), tracks);
    const isInTs = variants.some((variant) => isSame(variant.audio, audio) && variant.video?.codec !== "hevc");
    const files = streamFiles(`${spec.index}-${name}`, { fmp4: hasFragments(spec), ts: hasMpegTs(spec) && isInTs });
    tracks.push({
      key: JSON.stringify(audio),
      track: { name, kind: "audio", ...files, video: null },
      branch: null,
      argv: [
        ...["-map", `0:${source.streamIndex}`, ...audioArguments(encoder, audio, "mp4", source, "filled from 0")],
        ...(alone
          ? streamAudioArguments(chunkFile(spec.index, name))
          : streamArguments(files, "audio", spec.segmentDurationMs)),
      ],
      expectedFrames: null,
      ...{ encoder, device: null, chunk: null, firstPass: null },
    });
  }
  return { ok: true, tracks };
}

const audioName = ({ bitrateKbps }: EncodedAudio): string => `audio${bitrateKbps === null ? "" : `-${bitrateKbps}k`}`;

function unusedName(wanted: string, parts: readonly TrackPart[], again = 1): string {
  const name = again === 1 ? wanted : `${wanted}-${again}`;
  return parts.some(({ track }) => track.name === name) ? unusedName(wanted, parts, again + 1) : name;
}

const isSame = (a: EncodedAudio | null, b: EncodedAudio): boolean => JSON.stringify(a) === JSON.stringify(b);

function distinct<Item>(items: readonly (Item | null)[]): Item[] {
  const all = new Map(items.flatMap((item) => (item === null ? [] : [[JSON.stringify(item), item] as const])));
  return [...all.values()];
}

function assemble(
  { index, hls, dash }: HttpStreamOutput,
  source: SourceTracks,
  parts: readonly (Part | TrackPart)[],
  stream: NonNullable<OutputPlan["planned"]["stream"]>,
  note: string | null,
): OutputPlan {
  const made = parts.filter((part): part is TrackPart => "track" in part);
  const kinds = (["video", "audio"] as const).filter((kind) => made.some(({ track }) => track.kind === kind));
  const tracks = kinds.flatMap((kind) => source[kind] ?? []);
  const device = made.find((part) => part.device !== null)?.device;
  const encoders = made.filter(({ track }) => track.kind === kinds[0]).map(({ encoder }) => encoder);
  if (!hls && !dash) throw new Error("A stream without a package");
  return {
    branches: parts.flatMap(({ branch }) => branch ?? []),
    argv: parts.flatMap(({ argv }) => argv),
    expectedFrames: parts[0]?.expectedFrames ?? null,
    endMs: lastEnd(NO_TRIM, tracks),
    planned: {
      output: index,
      files: [],
      expectedDurationMs: lengthOf(NO_TRIM, tracks.filter(isExact)),
      tracks: kinds,
      ...(note === null ? {} : { note }),
      encoder: [...new Set(encoders)].join(", "),
      ...(device ? { inHardware: true } : {}),
      stream,
    },
    ...(device ? { device } : {}),
  };
}
