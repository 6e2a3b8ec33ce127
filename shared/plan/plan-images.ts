// Pictures out of a film, evenly spread, from the same decode as everything else.
import type { ImageOutput } from "../output-spec.ts";
import { fitFrame, type Size, squareSide } from "./fit-frame.ts";
import { type PlanResult, refuse } from "./output-plan.ts";
import { sizeRefusal } from "./picture-limits.ts";
import type { SourceTracks, VideoTrack } from "./source-tracks.ts";

/** Scale of mjpeg's quantiser, 2 (best) to 31. */
const JPEG_QUALITY = "2";

/**
 * JPEG (JFIF) means full range and the colour matrix of BT.601; video is mostly limited range and, in HD, BT.709. The way
 * leads over RGB because 7.0 keeps the matrix when it scales straight to `yuvj420p`, and because `pad` in 4:2:0 would
 * round odd sizes down.
 */
const TO_RGB = "format=gbrp";
const TO_JPEG = ["scale=out_color_matrix=bt601:out_range=pc", "format=yuvj420p"];

/** Plans one image output: `number` files named `<index>-00001.jpg` and so on. */
export function planImages(spec: ImageOutput, source: SourceTracks): PlanResult {
  if (!source.video) return refuse("input_has_no_video");
  const { selection } = spec;
  if (selection.by !== "number") throw new Error(`No planner for images by ${selection.by}`);
  const { number } = selection;
  const tooLarge = sizeRefusal(source.video, pictureSize(spec, source.video));
  if (tooLarge) return { ok: false, failure: tooLarge };
  const label = `v${spec.index}`;
  const files = Array.from({ length: number }, (_, at) => `${spec.index}-${String(at + 1).padStart(5, "0")}.jpg`);
  return {
    ok: true,
    plan: {
      planned: { output: spec.index, files, expectedDurationMs: null, holds: ["video"] },
      branch: { label, filters: [...pickFilters(number, source.video), ...pictureFilters(spec, source.video)] },
      argv: [
        ...["-map", `[${label}]`, "-frames:v", String(number), "-fps_mode", "passthrough"],
        ...["-c:v", "mjpeg", "-q:v", JPEG_QUALITY, "-f", "image2", `${spec.index}-%05d.jpg`],
      ],
      expectedFrames: number,
      endMs: source.video.startMs + (number - 0.5) * slotMs(number, source.video),
    },
  };
}

/**
 * Cuts the D seconds of the picture track into n slots and takes of slot k what is on the screen in its middle, at
 * (k + 0.5)·D/n from the first frame: `fps` puts the last frame that rounds to k on tick k. It repeats a frame where
 * there are fewer frames than slots, and `tpad` repeats the last one where the track is shorter than declared, so that
 * n pictures come out of every source that has a frame.
 */
function pickFilters(number: number, track: VideoTrack): string[] {
  return [
    // The first frame may come late; slots count from it.
    "setpts=PTS-STARTPTS",
    `fps=1000/${slotMs(number, track)}:round=near:eof_action=pass`,
    `tpad=stop_mode=clone:stop=${number}`,
  ];
}

/** Without a length to divide, pictures are a second apart. */
function slotMs(number: number, track: VideoTrack): number {
  return track.durationMs ? track.durationMs / number : 1000;
}

function pictureSize(spec: ImageOutput, { facts }: VideoTrack): Size {
  const source = { width: facts.displayWidth, height: facts.displayHeight };
  if (!spec.square) return fitFrame(source, spec.size, 1).frame;
  const side = squareSide(source, spec.size);
  return { width: side, height: side };
}

/** These come after the choice: only chosen frames are scaled. */
function pictureFilters(spec: ImageOutput, track: VideoTrack): string[] {
  const source = { width: track.facts.displayWidth, height: track.facts.displayHeight };
  if (spec.square) {
    const side = squareSide(source, spec.size);
    return [
      steadySize(track),
      centreSquare(source),
      `scale=${side}:${side}:flags=bicubic`,
      TO_RGB,
      "setsar=1",
      ...TO_JPEG,
    ];
  }
  const { frame, picture, pad } = fitFrame(source, spec.size, 1);
  const padded = pad ? [`pad=${frame.width}:${frame.height}:${pad.x}:${pad.y}`] : [];
  return [`scale=${picture.width}:${picture.height}:flags=bicubic`, TO_RGB, ...padded, "setsar=1", ...TO_JPEG];
}

/** `crop` must not meet a picture of another size than the first: it would cut beyond the edge of a smaller one. */
function steadySize({ facts }: VideoTrack): string {
  const { codedWidth, codedHeight } = facts;
  return facts.rotation % 180 === 0 ? `scale=${codedWidth}:${codedHeight}` : `scale=${codedHeight}:${codedWidth}`;
}

/** In shares of the decoded frame, because its pixels need not be square: `source` is the size it is displayed at. */
function centreSquare(source: Size): string {
  const side = Math.min(source.width, source.height);
  const share = (edge: string, of: number): string => (of === side ? edge : `${edge}*${side}/${of}`);
  return `crop=${share("iw", source.width)}:${share("ih", source.height)}`;
}
