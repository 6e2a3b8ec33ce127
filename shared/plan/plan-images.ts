// Pictures out of a film, evenly spread, from the same decode as everything else.
import type { ImageOutput } from "../output-spec.ts";
import { fitFrame, type Size, squareSide } from "./fit-frame.ts";
import { type PlanResult, refuse } from "./output-plan.ts";
import type { SourceTracks, VideoTrack } from "./source-tracks.ts";

/** Scale of mjpeg's quantiser, 2 (best) to 31. */
const JPEG_QUALITY = "2";

/** JPEG (JFIF) means full range and the colour matrix of BT.601; video is mostly limited range and, in HD, BT.709. */
const JPEG_COLOUR = "out_color_matrix=bt601:out_range=pc";

/** Plans one image output: `number` files named `<index>-00001.jpg` and so on. */
export function planImages(spec: ImageOutput, source: SourceTracks): PlanResult {
  if (!source.video) return refuse("input_has_no_video");
  const label = `v${spec.index}`;
  const files = Array.from({ length: spec.number }, (_, at) => `${spec.index}-${String(at + 1).padStart(5, "0")}.jpg`);
  return {
    ok: true,
    plan: {
      planned: { output: spec.index, files, expectedDurationMs: null },
      branch: { label, filters: [...pickFilters(spec.number, source.video), ...pictureFilters(spec, source.video)] },
      argv: [
        ...["-map", `[${label}]`, "-frames:v", String(spec.number), "-fps_mode", "passthrough"],
        ...["-c:v", "mjpeg", "-q:v", JPEG_QUALITY, "-f", "image2", `${spec.index}-%05d.jpg`],
      ],
      expectedFrames: spec.number,
      endMs: source.video.endMs,
    },
  };
}

/**
 * Cuts the D seconds of the picture track into n slots and takes of slot k what is on the screen in its middle, at
 * (k + 0.5)·D/n from the first frame: `fps` puts the last frame that rounds to k on tick k. It repeats a frame where
 * there are fewer frames than slots, and `tpad` repeats the last one where the track is shorter than declared, so that
 * n pictures come out of every source that has a frame. The length being unknown, they are a second apart.
 */
function pickFilters(number: number, track: VideoTrack): string[] {
  const rate = track.durationMs ? `${number * 1000}/${track.durationMs}` : "1";
  return [
    // The first frame may come late; slots count from it.
    "setpts=PTS-STARTPTS",
    `fps=${rate}:round=near:eof_action=pass`,
    `tpad=stop_mode=clone:stop=${number}`,
  ];
}

/** These come after the choice: only chosen frames are scaled. */
function pictureFilters(spec: ImageOutput, track: VideoTrack): string[] {
  const source = { width: track.facts.displayWidth, height: track.facts.displayHeight };
  if (spec.square) {
    const side = squareSide(source, spec.size);
    return [centreSquare(source), `scale=${side}:${side}:flags=bicubic:${JPEG_COLOUR}`, "setsar=1", "format=yuvj420p"];
  }
  const { frame, picture, pad } = fitFrame(source, spec.size, 1);
  const scale = `scale=${picture.width}:${picture.height}:flags=bicubic:${JPEG_COLOUR}`;
  // With shared colour samples, `pad` would round odd sizes down.
  const padded = pad ? ["format=yuvj444p", `pad=${frame.width}:${frame.height}:${pad.x}:${pad.y}`] : [];
  return [scale, ...padded, "setsar=1", "format=yuvj420p"];
}

/** In shares of the decoded frame, because its pixels need not be square: `source` is the size it is displayed at. */
function centreSquare(source: Size): string {
  const side = Math.min(source.width, source.height);
  const share = (edge: string, of: number): string => (of === side ? edge : `${edge}*${side}/${of}`);
  return `crop=${share("iw", source.width)}:${share("ih", source.height)}`;
}
