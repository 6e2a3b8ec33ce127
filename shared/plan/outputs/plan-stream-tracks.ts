// Plans the tracks of a stream: every distinct track of its variants, encoded once.

import type { DroppedVideo } from "../../job/dropped-video.ts";
import type { HttpStreamOutput, VideoOutput } from "../../job/output-spec.ts";
import { type Chapter, chaptersBetween } from "../../media/chapters.ts";
import { undecodableFailure } from "../../media/choose-streams.ts";
import { valuesOf } from "../../parameters/parameter.ts";
import { frameParameters, videoParameters } from "../../parameters/plain-parameters.ts";
import { err, ok, type Result } from "../../result.ts";
import { chunkArguments, chunkFile, NULL_OUTPUT } from "../chunks/chunk-muxers.ts";
import type { ChunkVideo, VideoSpan } from "../chunks/chunk-video.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import type { Branch } from "../command/filter-graph.ts";
import { gridSeconds } from "../command/keyframe-grid.ts";
import type { HardwareDevice } from "../encoders/hardware.ts";
import type { EncodedVideo } from "../encoders/video-encode-options.ts";
import { expectedFrameCount } from "../filters/frame-timing.ts";
import { heldStill } from "../filters/last-frame.ts";
import { startsBeyondEnd } from "../source/output-tracks.ts";
import { sourceFailure } from "../source/source-failures.ts";
import type { SourceTracks, VideoTrack } from "../source/source-tracks.ts";
import { type Trim, trimArguments } from "../source/trim.ts";
import { renditionPart, streamTrim } from "../streams/stream-clip.ts";
import { streamArguments, streamFiles } from "../streams/stream-muxers.ts";
import { hasFragments, hasMpegTs, type StreamVariants, variantsFor } from "../streams/stream-variants.ts";
import { decisiveFailure } from "./output-plan.ts";
import { type PlannedThumbnails, planStreamThumbnails } from "./plan-stream-thumbnails.ts";
import { type PlannedVideoTrack, planVideoTrack } from "./plan-video-track.ts";
import { type AudioPart, planAudios, streamSource, type TrackPart, unusedName } from "./stream-audio.ts";

/** A stream in parts. Each part can be made by itself. */
export type StreamParts = {
  /** Indexes in `videos` and `audios`. `group`: the encoding of the audio, with a list of tracks. */
  readonly variants: readonly (Pick<StreamVariants["variants"][number], "video" | "audio"> & {
    readonly group?: string;
  })[];
  readonly videos: readonly VideoPart[];
  readonly audios: readonly AudioPart[];
  /** Null: no thumbnails. */
  readonly thumbnails: PlannedThumbnails | null;
  readonly chapters: readonly Chapter[];
  readonly trim: Trim;
  /** Note about audio tracks that were left out. */
  readonly note: string | null;
};

export type VideoPart = TrackPart & {
  readonly video: EncodedVideo;
  readonly branch: Branch;
  readonly expectedFrames: number | null;
  readonly device: HardwareDevice | null;
  /** Null: the whole video. */
  readonly chunk: ChunkVideo | null;
  /** The first of the two passes of a chunk; null: one pass. */
  readonly firstPass: readonly string[] | null;
};

export type StreamPartsRequest = {
  readonly spec: HttpStreamOutput;
  readonly source: SourceTracks;
  readonly capabilities: FfmpegCapabilities;
  /** Plans tracks that are joined with chunks: in fragmented MP4 only, in files named like the joined tracks. */
  readonly chunked?: { readonly seekMs: number };
  /** Chunk whose video is planned, with `chunked`. */
  readonly span?: VideoSpan;
};

/** Plans the parts of a stream. Fails if the source lacks the tracks, or if codec or node does not support them. */
export function planStreamParts(request: StreamPartsRequest): Result<StreamParts> {
  const { spec, capabilities } = request;
  const undecodable = (request.source.video ?? (spec.audioTracks ? null : request.source.audio))?.undecodable;
  if (undecodable) return err(undecodableFailure(undecodable));
  const selected = streamSource(spec, request.source);
  if (!selected.ok) return selected;
  const { source, tracks, note } = selected.value;
  const chosen = variantsFor(spec, source);
  if (chosen.variants.length === 0) {
    return err(sourceFailure(source.video ? "input_has_no_audio" : "input_has_no_video"));
  }
  const trim = { ...streamTrim(spec, source), ...request.chunked };
  if (startsBeyondEnd(trim, source.video)) return err(sourceFailure("offset_beyond_end"));
  const videos = planVideos({ ...request, source, trim }, chosen);
  const audios = planAudios({ ...request, tracks, trim }, chosen);
  const thumbnails =
    spec.thumbnails && source.video ? planStreamThumbnails(spec, source, capabilities, trim.seekMs) : ok(null);
  if (!videos.ok || !audios.ok || !thumbnails.ok) return err(decisiveFailure([videos, audios, thumbnails]));
  const variants = chosen.variants.map(({ video, audio }) => {
    const start = audio === null ? undefined : audios.value.starts[audio];
    return { video, audio: start?.part ?? null, ...(start && spec.audioTracks ? { group: start.group } : {}) };
  });
  const parts = {
    variants,
    videos: videos.value,
    audios: audios.value.parts,
    thumbnails: thumbnails.value,
    chapters: chaptersBetween(source.chapters, trim.startMs, trim.endMs),
    trim,
    note,
  };
  return ok({ ...parts, ...withoutDropped(parts, spec.dropped ?? []) });
}

function planVideos(
  request: StreamPartsRequest & { readonly trim: Trim },
  { videos, variants }: StreamVariants,
): Result<VideoPart[]> {
  const { spec, source, capabilities, span, trim } = request;
  const parts: VideoPart[] = [];
  if (!source.video) return ok(parts);
  const track = heldStill(source.video, source.audio);
  const results = videos.map((video, at) =>
    planVideoTrack({
      output: asFile(spec, video, track),
      video,
      track,
      trim,
      capabilities,
      gridSeconds: gridSeconds(spec.segmentDurationMs),
      span: span ? { ...span, passLog: `${spec.index}-${at}-pass` } : null,
    }),
  );
  for (const [at, planned] of results.entries()) {
    const video = videos[at];
    if (!planned.ok || !video) return err(decisiveFailure(results));
    const inMpegTs = hasMpegTs(spec) && variants.some((variant) => variant.video === at && variant.inMpegTs);
    parts.push(videoPart(spec, { video, source: track, planned: planned.value, trim, inMpegTs }, parts));
  }
  return ok(parts);
}

/** File output that encodes only this rendition. */
export const asFile = (spec: HttpStreamOutput, video: EncodedVideo, source: VideoTrack): VideoOutput => ({
  index: spec.index,
  key: spec.key,
  format: spec.format,
  condition: null,
  path: "",
  type: "video",
  container: "mp4",
  video,
  audio: null,
  keepsMetadata: false,
  fragmented: true,
  ...valuesOf({ ...frameParameters, ...videoParameters }),
  ...(spec.crop ? { crop: spec.crop } : {}),
  fit: spec.fit ?? "pad",
  watermark: null,
  ...renditionPart(spec, source),
  ...(spec.measuresQuality ? { measuresQuality: true } : {}),
  captions: spec.captions,
  ...(spec.burn ? { burn: spec.burn } : {}),
  ...(spec.overlays ? { overlays: spec.overlays } : {}),
  // Screens show whole frames, and players of streams do not deinterlace (Apple's HLS authoring specification §1.15).
  deinterlace: source.interlaced,
});

/**
 * Rate below which frames are not reordered. Reordered frames are decoded two frame distances before they are shown.
 * hls.js starts with the first decoded frame, so it would skip the start of slow videos. With frames 5 s apart, the
 * timestamps do not even have room for reordering.
 */
const REORDERING_FPS = 20;
/** Packets of VP9 and AV1 are in the order in which they are shown. */
const REORDERING: ReadonlySet<EncodedVideo["codec"]> = new Set(["h264", "hevc"]);

type Rendition = {
  readonly video: EncodedVideo;
  readonly source: VideoTrack;
  readonly planned: PlannedVideoTrack;
  readonly trim: Trim;
  readonly inMpegTs: boolean;
};

function videoPart(
  spec: HttpStreamOutput,
  { video, source, planned, trim, inMpegTs }: Rendition,
  before: readonly VideoPart[],
): VideoPart {
  const { frame, timing, hdr, captions, encoder, device, chunk, filters, needs } = planned;
  const shortSide = `${Math.min(frame.width, frame.height)}p`;
  const name = unusedName(
    video.codec === "h264" ? shortSide : `${shortSide}-${video.codec}`,
    before.map(({ track }) => track.name),
  );
  const label = `v${spec.index}t${before.length}`;
  const files = streamFiles(`${spec.index}-${name}`, { fmp4: hasFragments(spec), ts: inMpegTs });
  const order = timing.fps < REORDERING_FPS && REORDERING.has(video.codec) ? ["-bf", "0"] : [];
  const file = chunk
    ? chunkArguments(chunkFile(spec.index, name))
    : streamArguments(files, "video", spec.segmentDurationMs);
  return {
    video,
    track: { name, kind: "video", ...files, video: { frame, fps: timing.fps, hdr, captions } },
    branch: { label, filters },
    argv: ["-map", `[${label}]`, ...planned.argv, ...order, ...trimArguments(trim), ...file],
    firstPass: planned.firstPass && [
      ...["-map", `[${label}]`, ...planned.firstPass, ...order, ...trimArguments(trim), ...NULL_OUTPUT],
    ],
    expectedFrames: chunk ? chunk.frames : expectedFrameCount(trim, timing, source),
    encoder,
    device,
    chunk,
    needs,
  };
}

/** Leaves videos out of a planned stream, with their variants, and with audio that no other variant has. */
function withoutDropped(
  { variants, videos, audios }: Pick<StreamParts, "variants" | "videos" | "audios">,
  dropped: readonly DroppedVideo[],
): Pick<StreamParts, "variants" | "videos" | "audios"> {
  // Remaining tracks keep their names, so chunks that were encoded with all videos still fit.
  const stays = ({ track }: VideoPart): boolean => !dropped.some((video) => video.track === track.name);
  const remaining = variants.filter(({ video }) => {
    const part = video === null ? undefined : videos[video];
    return !part || stays(part);
  });
  const keptVideos = videos.filter(stays);
  const keptAudios = audios.filter(({ track }, at) =>
    remaining.some(({ audio, group }) => audio === at || (group !== undefined && track.audio?.groups.includes(group))),
  );
  return {
    variants: remaining.map((variant) => ({
      ...variant,
      video: newIndex(videos, keptVideos, variant.video),
      audio: newIndex(audios, keptAudios, variant.audio),
    })),
    videos: keptVideos,
    audios: keptAudios,
  };
}

function newIndex<Item>(before: readonly Item[], after: readonly Item[], at: number | null): number | null {
  const item = at === null ? undefined : before[at];
  return item === undefined ? null : after.indexOf(item);
}
