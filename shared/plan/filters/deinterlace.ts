// Interlaced pictures made whole, where that is asked for.
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import type { VideoTrack } from "../source/source-tracks.ts";
import { fixedSizeFilter } from "./frame-geometry.ts";

/**
 * One whole frame for each frame that its decoder calls interlaced; progressive ones pass as they are, so that mixed sources
 * come out right. bwdif draws finer lines than yadif and is as fast.
 */
export function deinterlaceFilters(track: VideoTrack, can: Pick<FfmpegCapabilities, "filters">): string[] {
  const name = can.filters.includes("bwdif") ? "bwdif" : "yadif";
  return [fixedSizeFilter(track), `${name}=mode=send_frame:deint=interlaced`];
}
