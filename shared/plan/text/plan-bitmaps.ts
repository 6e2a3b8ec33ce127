// Plans the runs that read a track of captions that are images: PGS, DVB, DVD and XSUB.
import type { MediaProbe } from "../../media/media-probe.ts";
import type { PlannedRun } from "../command/planned-run.ts";
import { BITMAPS_ORIGIN_MS } from "../filters/burn-in.ts";
import { type RunInputs, readingRun } from "../runs/plan-run.ts";
import type { Size } from "../source/frame-size.ts";
import { ptsOriginArguments } from "../source/pts-origin.ts";
import type { TextTrack } from "./text-tracks.ts";

/** The first packets of a track as they are. */
export const bitmapData = ({ streamIndex }: TextTrack): string => `bitmaps-${streamIndex}.bin`;
/** The whole canvas whenever it changes, as video with alpha. */
export const bitmapVideo = ({ streamIndex }: TextTrack): string => `bitmaps-${streamIndex}.nut`;

/** Enough for the size of the canvas, which is in the first image. MPEG-TS has several packets an image. */
const FIRST_PACKETS = 200;
/** More than the length of any source. ffmpeg ends images without an end after 49 days. */
const MAX_SECONDS = 360_000;

/** A run that copies the first packets. */
export function planBitmapData(inputs: RunInputs, probe: MediaProbe, track: TextTrack): PlannedRun {
  const copy = ["-map", `0:${track.streamIndex}`, "-c", "copy", "-frames:s", String(FIRST_PACKETS)];
  return readingRun(inputs, probe, [...copy, "-f", "data", bitmapData(track)]);
}

/**
 * A run that decodes the track, in µs. Damaged packets are left out. Before each packet ffmpeg repeats the image before
 * it, up to 1 µs earlier, and the muxer moves the second of two images at the same time by 1 µs: so all are moved back
 * by 1 µs. An empty image that no output reaches comes last, because `overlay` stops at the end of either input.
 */
export function planBitmaps(inputs: RunInputs, probe: MediaProbe, track: TextTrack, canvas: Size): PlannedRun {
  const size = `${canvas.width}x${canvas.height}`;
  const times = `settb=1/1000000,setpts=PTS+${BITMAPS_ORIGIN_MS * 1000 - 1},trim=start=0:end=${MAX_SECONDS}`;
  const last = `color=black@0:size=${size},format=rgba,settb=1/1000000,setpts=${MAX_SECONDS}/TB,trim=end_frame=1`;
  const graph = `[0:${track.streamIndex}]${times},format=rgba[images];${last}[last];[images][last]concat[bitmaps]`;
  const output = [
    ...["-max_error_rate", "1", "-filter_complex", graph, "-map", "[bitmaps]"],
    ...["-fps_mode", "passthrough", "-enc_time_base", "1/1000000"],
    // Fast rather than small: most of the canvas is empty.
    ...["-c:v", "png", "-pix_fmt", "rgba", "-compression_level", "1", "-f", "nut", bitmapVideo(track)],
  ];
  return readingRun(inputs, probe, output, [...ptsOriginArguments(probe), "-canvas_size", size]);
}
