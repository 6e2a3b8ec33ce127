// Closed captions in video: CEA-608 and CEA-708 in frames (ATSC A/53 part 4).
import type { ProbedStream } from "./media-probe.ts";

/** True if side data in ffprobe's output for frames is captions. */
export const isCaptions = (data: Readonly<Record<string, unknown>>): boolean =>
  data.side_data_type === "ATSC A53 Part 4 Closed Captions";

/** True if frames of the stream contain captions, in the part that the node has read. */
export const hasCaptions = ({ side_data_list = [] }: ProbedStream): boolean => side_data_list.some(isCaptions);
