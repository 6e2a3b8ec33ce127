// Plans image outputs: their files, and the filters and encoders that make them.
import { IMAGE_CONTAINER_TRAITS } from "../../format/containers.ts";
import type { FrameSize } from "../../format/format-spec.ts";
import { MAX_ANIMATED_WIDTH } from "../../format/presets.ts";
import type { ImageOutput } from "../../job/output-spec.ts";
import { undecodableFailure } from "../../media/choose-streams.ts";
import { err, ok, type Result } from "../../result.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import { IMAGE_ENCODINGS, imageEncoderFailure, imageEncoding, imageNeeds } from "../encoders/image-encoders.ts";
import { burnImages } from "../filters/burn-in.ts";
import { filterFailure, filterNeeds } from "../filters/filter-needs.ts";
import { fitGeometry } from "../filters/frame-geometry.ts";
import { type DrawnOverlays, drawnOverlays } from "../filters/overlays/overlay-times.ts";
import { planVideoFilters } from "../filters/video-filters.ts";
import { isExact } from "../source/output-length.ts";
import { fallBackNote } from "../source/output-tracks.ts";
import { sourceFailure } from "../source/source-failures.ts";
import type { SourceTracks, VideoTrack } from "../source/source-tracks.ts";
import { clipStart } from "../source/trim.ts";
import { clippedLength, inSource, outputTimestamps } from "../thumbnails/output-timestamps.ts";
import { imageArguments } from "../thumbnails/seek-thumbnails.ts";
import { EVEN_TIMESTAMPS, selectFilters, timesOf } from "../thumbnails/select-frames.ts";
import type { ImageFile, SelectedImages } from "../thumbnails/selected-images.ts";
import {
  DEFAULT_CELL_WIDTH,
  layOutSheets,
  type SpriteSheetLayout,
  sheetFailure,
  tileFilter,
} from "../thumbnails/sprite-sheet.ts";
import { countTimestamps, lastTimestamp, type SamplingInterval } from "../thumbnails/thumbnail-timestamps.ts";
import { thumbnailVtt } from "../thumbnails/thumbnail-vtt.ts";
import type { OutputPlan, PlannedOutput } from "./output-plan.ts";

/**
 * Everything between selection and encoding happens in RGB. When ffmpeg 7.0 scales straight to an encoder's format, it
 * keeps the source's matrix. `pad` and `tile` in 4:2:0 would round odd sizes down.
 */
const IN_RGB = { pixelFormat: "gbrp", step: 1 } as const;
const WITH_ALPHA = { pixelFormat: "gbrap", step: 1 } as const;

/**
 * Working format for images of a source. Sources with alpha in HDR hardly exist, and tone mapping would lose the alpha.
 */
const workingFormat = ({ container }: ImageOutput, { color }: VideoTrack): typeof IN_RGB | typeof WITH_ALPHA =>
  IMAGE_ENCODINGS[container].alphaFilters && color.hasAlpha && color.dynamics === "standard" ? WITH_ALPHA : IN_RGB;

/** Plans an image output: `<index>-00001.jpg` and so on, or a single animation, and a WebVTT file after them. */
export function planImages(
  requested: ImageOutput,
  source: SourceTracks,
  capabilities: FfmpegCapabilities,
  seekMs = 0,
): Result<OutputPlan> {
  const { video } = source;
  if (!video) return err(sourceFailure("input_has_no_video"));
  if (video.undecodable) return err(undecodableFailure(video.undecodable));
  const spec = { ...requested, size: automaticSize(requested, video) };
  const working = workingFormat(spec, video);
  const chosen = outputTimestamps(spec, video);
  if (!chosen.ok) return chosen;
  const drawn = overlaysOfImages(spec, video);
  if (!drawn.ok) return drawn;
  const burnIn = burnImages(spec, drawn.value ? [] : EVEN_TIMESTAMPS);
  const planned = planVideoFilters({ ...spec, burnIn, drawn: drawn.value }, video, working);
  if (!planned.ok) return planned;
  const intervals = inSource(chosen.value, spec, video);
  const layout = spec.sprite && layOutSheets(spec.sprite, countTimestamps(intervals), planned.value.frame);
  const tooLarge = layout && sheetFailure(spec.container, layout);
  if (tooLarge) return err(tooLarge);
  const { container } = spec;
  const encoding = imageEncoding(spec);
  const encoderFormat = (working === WITH_ALPHA ? encoding.alphaFilters : null) ?? encoding.filters;
  const images: SelectedImages = {
    intervals,
    pixelFormat: working.pixelFormat,
    filters: planned.value.filters,
    finish: [...(layout ? [tileFilter(layout), "setsar=1"] : []), ...encoderFormat],
    oneFilePerFrame: !layout && !IMAGE_CONTAINER_TRAITS[container].animated,
    encode: ["-fps_mode", "passthrough", "-c:v", encoding.encoder, ...encoding.argv],
    file: imageFile(spec),
    burnIn,
    hasShownTimes: burnIn !== null || drawn.value !== null,
  };
  const plan = assemble(spec, video, images, { layout, shown: chosen.value, seekMs });
  const lacking = imageEncoderFailure(container, capabilities) ?? filterFailure(plan.needs, capabilities);
  return lacking ? err(lacking) : ok(plan);
}

/** The overlays of images, which have the times of the source. Times count from the start of the clip. */
function overlaysOfImages(spec: ImageOutput, track: VideoTrack): Result<DrawnOverlays | null> {
  const { startMs, durationMs, lengthFrom } = clippedLength(spec, track);
  const clock = {
    startMs: spec.clip ? clipStart(spec.clip, track) : 0,
    sourceMs: 0,
    lengthMs: durationMs === null || lengthFrom === "estimate" ? null : startMs + durationMs,
    grid: null,
    fps: track.constantRate ? track.fps : null,
  };
  return drawnOverlays(spec, clock, track, EVEN_TIMESTAMPS);
}

type ImageTimes = {
  readonly layout: SpriteSheetLayout | null;
  /** The timestamps, from the start of the clip if there is one. */
  readonly shown: readonly SamplingInterval[];
  /** Start of reading in the source. */
  readonly seekMs: number;
};

function assemble(
  spec: ImageOutput,
  track: VideoTrack,
  images: SelectedImages,
  { layout, shown, seekMs }: ImageTimes,
): OutputPlan {
  const label = `v${spec.index}`;
  const { intervals } = images;
  const fileCount = layout?.sheets ?? countTimestamps(intervals);
  const filters = [
    ...selectFilters(intervals, seekMs),
    ...timesOf(images, intervals),
    ...images.filters,
    ...images.finish,
  ];
  return {
    planned: plannedFiles(spec, { intervals, shown }, layout, track),
    needs: [...imageNeeds(spec.container), ...filterNeeds(filters)],
    branches: [{ label, filters }],
    images,
    ...(layout ? { spriteSheet: layout } : {}),
    argv: imageArguments(label, fileCount, images),
    expectedFrames: fileCount,
    endMs: lastTimestamp(intervals),
  };
}

function imageFile({ container, index }: ImageOutput): ImageFile {
  const { extension } = IMAGE_ENCODINGS[container];
  return IMAGE_CONTAINER_TRAITS[container].animated
    ? { format: ["-f", extension], name: `${index}.${extension}` }
    : { format: ["-f", "image2"], name: `${index}-%05d.${extension}` };
}

/** Files in the order of their ordinals: as the request lists its offsets, otherwise in time order. */
function plannedFiles(
  spec: ImageOutput,
  { intervals, shown }: Pick<SelectedImages, "intervals"> & Pick<ImageTimes, "shown">,
  layout: SpriteSheetLayout | null,
  track: VideoTrack,
): PlannedOutput {
  const { selection, index } = spec;
  const positions = positionsOf(spec, countTimestamps(intervals));
  const files = imageNames(spec, positions, layout);
  const { startMs, durationMs } = clippedLength(spec, track);
  const endMs = durationMs === null ? null : startMs + durationMs;
  const text = thumbnailVtt({ spec, intervals: shown, positions, layout, endMs });
  const vtt = `${index}.vtt`;
  const isRequested = selection.by === "offsets" && track.lengthFrom !== "estimate";
  const note = fallBackNote([track]);
  const isCertain = isRequested || (isExact(track) && track.durationMs !== null);
  return {
    output: index,
    files: text === null ? files : [...files, vtt],
    ...(text === null ? {} : { texts: [{ file: vtt, text }] }),
    tracks: [{ kind: "video", endMs: null }],
    ...(note === null ? {} : { note }),
    ...(isCertain ? neededFrame(lastTimestamp(intervals), track) : {}),
  };
}

/** Timestamps before the video show its first frame. Timestamps after its last frame show the last frame. */
function neededFrame(
  timestampMs: number,
  { startMs, lastStartMs, leadMs }: VideoTrack,
): Pick<PlannedOutput, "neededFrame"> {
  if (timestampMs <= startMs) return {};
  return {
    neededFrame: { startMs: Math.min(timestampMs, lastStartMs ?? timestampMs) - leadMs, timestampMs, originMs: 0 },
  };
}

function imageNames(
  { container, index }: ImageOutput,
  positions: readonly number[],
  layout: SpriteSheetLayout | null,
): string[] {
  const { extension } = IMAGE_ENCODINGS[container];
  if (IMAGE_CONTAINER_TRAITS[container].animated) return [`${index}.${extension}`];
  const names = Array.from({ length: layout?.sheets ?? positions.length }, () => "");
  for (const at of names.keys()) {
    names[layout ? at : (positions[at] ?? at)] = `${index}-${String(at + 1).padStart(5, "0")}.${extension}`;
  }
  return names;
}

/** Position of each frame in the request, from 0. The frames are in time order. */
function positionsOf({ selection }: ImageOutput, count: number): number[] {
  const positions = Array.from({ length: count }, (_, at) => at);
  if (selection.by !== "offsets") return positions;
  const { offsetsMs } = selection;
  return positions.toSorted((a, b) => (offsetsMs[a] ?? 0) - (offsetsMs[b] ?? 0));
}

/** The requested size, or the default size of sprite cells and animations. */
function automaticSize(spec: ImageOutput, track: VideoTrack): FrameSize {
  const { size, sprite, square, container } = spec;
  const none = size.width === null && size.height === null;
  if (sprite && none) return { width: DEFAULT_CELL_WIDTH, height: square ? DEFAULT_CELL_WIDTH : null };
  if (!IMAGE_CONTAINER_TRAITS[container].animated) return size;
  const { frame } = fitGeometry(spec, track, IN_RGB.step);
  return frame.width > MAX_ANIMATED_WIDTH ? { width: MAX_ANIMATED_WIDTH, height: null } : size;
}
