// Pictures out of a film: which files an image output consists of, and how they are made.

import { IMAGE_CONTAINER_TRAITS } from "../format/containers.ts";
import type { FrameSize } from "../format/format-spec.ts";
import { MAX_MOVING_WIDTH } from "../format/presets.ts";
import type { ImageOutput } from "../job/output-spec.ts";
import { undecodableFailure } from "../media/choose-streams.ts";
import type { FfmpegCapabilities } from "./command/capabilities.ts";
import type { PlannedOutput, PlanResult, SelectedImages } from "./command/output-plan.ts";
import { refuse } from "./command/output-plan.ts";
import { IMAGE_ENCODINGS, imageEncoderFailure } from "./encoders/image-encoders.ts";
import { fitGeometry } from "./filters/frame-geometry.ts";
import { planVideoFilters } from "./filters/video-filters.ts";
import { isExact } from "./source/output-length.ts";
import type { SourceTracks, VideoTrack } from "./source/source-tracks.ts";
import { EVEN_TIMESTAMPS, selectFilters } from "./thumbnails/select-frames.ts";
import {
  DEFAULT_CELL_WIDTH,
  layOutSheets,
  type SpriteSheetLayout,
  sheetFailure,
  tileFilter,
} from "./thumbnails/sprite-sheet.ts";
import { vttText } from "./thumbnails/thumbnail-cues.ts";
import {
  chooseTimestamps,
  countTimestamps,
  lastTimestamp,
  type SamplingInterval,
} from "./thumbnails/thumbnail-timestamps.ts";

/**
 * Everything between picking and encoding happens in RGB: scaling straight to an encoder's format keeps the source's matrix
 * with 7.0, and `pad` and `tile` in 4:2:0 would round odd sizes down.
 */
const IN_RGB = { pixelFormat: "gbrp", step: 1 } as const;
const WITH_ALPHA = { pixelFormat: "gbrap", step: 1 } as const;

/** What images of a source are drawn in. Alpha beside HDR, whose conversion has no room for it, is next to unknown. */
const workingFormat = ({ container }: ImageOutput, { color: colour }: VideoTrack): typeof IN_RGB | typeof WITH_ALPHA =>
  IMAGE_ENCODINGS[container].alphaFilters && colour.hasAlpha && colour.dynamics === "standard" ? WITH_ALPHA : IN_RGB;

/** Plans one image output: `<index>-00001.jpg` and so on, one file of what moves, and a WebVTT file after them. */
export function planImages(asked: ImageOutput, source: SourceTracks, can: FfmpegCapabilities): PlanResult {
  const { video } = source;
  if (!video) return refuse("input_has_no_video");
  if (video.undecodable) return { ok: false, failure: undecodableFailure(video.undecodable) };
  const noEncoder = imageEncoderFailure(asked.container, can);
  if (noEncoder) return { ok: false, failure: noEncoder };
  const spec = { ...asked, size: automaticSize(asked, video) };
  const working = workingFormat(spec, video);
  const moments = chooseTimestamps(spec.selection, video, spec.sprite !== null);
  if (!moments.ok) return moments;
  const picture = planVideoFilters(spec, video, working, can);
  if (!picture.ok) return picture;
  const { frame, filters: chain } = picture.chain;
  const layout = spec.sprite && layOutSheets(spec.sprite, countTimestamps(moments.intervals), frame);
  const tooLarge = layout && sheetFailure(spec.container, layout);
  if (tooLarge) return { ok: false, failure: tooLarge };
  const label = `v${spec.index}`;
  const encoding = IMAGE_ENCODINGS[spec.container];
  const encoderFormat = (working === WITH_ALPHA ? encoding.alphaFilters : null) ?? encoding.filters;
  const { intervals: strides } = moments;
  const pictures: SelectedImages = {
    intervals: strides,
    pixelFormat: working.pixelFormat,
    filters: chain,
    finish: [...(layout ? [tileFilter(layout), "setsar=1"] : []), ...encoderFormat],
    oneFilePerFrame: !layout && !IMAGE_CONTAINER_TRAITS[spec.container].moves,
  };
  const filters = [...selectFilters(strides), ...EVEN_TIMESTAMPS, ...pictures.filters, ...pictures.finish];
  const written = layout?.sheets ?? countTimestamps(strides);
  return {
    ok: true,
    plan: {
      planned: plannedFiles(spec, strides, layout, video),
      branches: [{ label, filters }],
      images: pictures,
      ...(layout ? { spriteSheet: layout } : {}),
      argv: encoderArguments(spec, label, written),
      expectedFrames: written,
      endMs: lastTimestamp(strides),
    },
  };
}

function encoderArguments({ container, index }: ImageOutput, label: string, written: number): string[] {
  const { encoder, extension, argv } = IMAGE_ENCODINGS[container];
  const file = IMAGE_CONTAINER_TRAITS[container].moves
    ? ["-f", extension, `${index}.${extension}`]
    : ["-f", "image2", `${index}-%05d.${extension}`];
  return [
    ...["-map", `[${label}]`, "-frames:v", String(written), "-fps_mode", "passthrough"],
    ...["-c:v", encoder, ...argv, ...file],
  ];
}

/** The files in the order of the output's ordinals: as the request lists its offsets, else by time. */
function plannedFiles(
  spec: ImageOutput,
  strides: readonly SamplingInterval[],
  layout: SpriteSheetLayout | null,
  track: VideoTrack,
): PlannedOutput {
  const { selection, container, index } = spec;
  const { extension } = IMAGE_ENCODINGS[container];
  const places = placesOf(spec, countTimestamps(strides));
  const made = Array.from({ length: layout?.sheets ?? places.length }, () => "");
  for (const at of made.keys()) {
    made[layout ? at : (places[at] ?? at)] = `${index}-${String(at + 1).padStart(5, "0")}.${extension}`;
  }
  const pictures = IMAGE_CONTAINER_TRAITS[container].moves ? [`${index}.${extension}`] : made;
  const text = vttText({ spec, strides, places, layout, endMs: track.endMs });
  const vtt = `${index}.vtt`;
  const isNamed = selection.by === "offsets" && track.lengthFrom !== "estimate";
  const isCertain = isNamed || (isExact(track) && track.durationMs !== null);
  return {
    output: index,
    files: text === null ? pictures : [...pictures, vtt],
    ...(text === null ? {} : { texts: [{ file: vtt, text }] }),
    expectedDurationMs: null,
    tracks: ["video"],
    sourceNeededUntilMs: isCertain ? lastTimestamp(strides) : null,
  };
}

/** Of each picture in order of time: its place in the request, from 0. */
function placesOf({ selection }: ImageOutput, count: number): number[] {
  const places = Array.from({ length: count }, (_, at) => at);
  if (selection.by !== "offsets") return places;
  const { offsetsMs } = selection;
  return places.toSorted((a, b) => (offsetsMs[a] ?? 0) - (offsetsMs[b] ?? 0));
}

/** The size asked for, or what a sheet's cells and moving pictures have by themselves. */
function automaticSize(spec: ImageOutput, track: VideoTrack): FrameSize {
  const { size, sprite, square, container } = spec;
  const none = size.width === null && size.height === null;
  if (sprite && none) return { width: DEFAULT_CELL_WIDTH, height: square ? DEFAULT_CELL_WIDTH : null };
  if (!IMAGE_CONTAINER_TRAITS[container].moves) return size;
  const { frame } = fitGeometry(spec, track, IN_RGB.step);
  return frame.width > MAX_MOVING_WIDTH ? { width: MAX_MOVING_WIDTH, height: null } : size;
}
