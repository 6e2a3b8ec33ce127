// A video that a stream leaves out (`drop_similar_variants`).
import * as z from "zod";

/** The name of a track, as in playlists (plan/streams/planned-stream.ts). */
const TrackName = z
  .string()
  .max(60)
  .regex(/^[a-z0-9-]+$/, "not the name of a track");
const Kbps = z.int().min(0).max(1e9);

/** A video that is left out because it needs nearly as many bits as the next larger video. Mean bitrates. */
export const DroppedVideo = z.object({
  track: TrackName.describe("The name that its playlists would have, such as `720p`"),
  width: z.int().min(1).max(100_000).describe("Of its frames, in pixels"),
  height: z.int().min(1).max(100_000),
  kbps: Kbps.describe("Its mean bitrate: of samples, or with `ultrafast` of the whole video"),
  above: z.object({ track: TrackName, kbps: Kbps }).describe("The next larger variant that the stream has"),
});
export type DroppedVideo = z.infer<typeof DroppedVideo>;

/** Lists the left-out videos in a sentence for the job's owner. */
export function droppedNote(dropped: readonly DroppedVideo[]): string {
  const more = dropped.length - MOST_NOTED;
  const reasons = dropped.slice(0, MOST_NOTED).map(reasonOf);
  return `Without ${[...reasons, ...(more > 0 ? [`${more} more`] : [])].join(", ")}.`;
}

/** Maximum number of videos in a note, to keep it short. */
const MOST_NOTED = 3;

const reasonOf = ({ track, kbps, above }: DroppedVideo): string =>
  `${track} (${kbps} kbit/s, ${above.track} has ${above.kbps})`;
