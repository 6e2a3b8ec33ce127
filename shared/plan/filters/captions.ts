// Closed captions in frames: encoders copy what frames have, so that leaving them out is a filter.
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import type { VideoTrack } from "../source/source-tracks.ts";
import type { FrameTiming } from "./frame-timing.ts";

/** Removes captions, which any encoder would copy that can. */
const REMOVE = "sidedata=mode=delete:type=A53_CC";

/** Where frames are repeated or dropped, so are parts of the text, except by ffmpeg 6.1 and newer. */
const REPACKS = /^(?:N-|6\.[1-9]|[7-9]\.|[1-9]\d)/;

/** What is done about captions: the filters, and whether frames still have the source's. */
export function planCaptions(
  { hasCaptions, constantRate, fps }: Pick<VideoTrack, "hasCaptions" | "constantRate" | "fps">,
  timing: Pick<FrameTiming, "filters" | "fps">,
  drops: boolean,
  { ffmpegVersion }: Pick<FfmpegCapabilities, "ffmpegVersion">,
): { readonly filters: readonly string[]; readonly kept: boolean } {
  // Captions that begin later than the node has read are dropped, too.
  if (drops) return { filters: [REMOVE], kept: false };
  if (!hasCaptions) return { filters: [], kept: false };
  const keepsFrames = timing.filters.length === 0 || (constantRate && fps === timing.fps);
  const breaks = !keepsFrames && ffmpegVersion !== undefined && !REPACKS.test(ffmpegVersion);
  return breaks ? { filters: [REMOVE], kept: false } : { filters: [], kept: true };
}
