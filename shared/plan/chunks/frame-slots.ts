// Assigns the frames of a source to the slots of a constant rate.
import { fraction, type MediaProbe } from "../../media/media-probe.ts";
import { chooseTracks } from "../source/source-tracks.ts";

/** The slot of a time that is nearer than this to the middle between two slots depends on rounding. In slots. */
const UNSURE = 0.01;

/**
 * The rate, in frames per second, on which ffmpeg places the frames of a source that states a constant rate: encoders
 * count in this (`r_frame_rate`) if no time base is given. Null if frames keep their own times.
 */
export function slotRate(probe: MediaProbe): number | null {
  const { video } = chooseTracks(probe);
  if (!video?.constantRate) return null;
  return fraction(probe.streams.find(({ index }) => index === video.streamIndex)?.r_frame_rate);
}

/** The slot of the first frame of a run, by its time in seconds. */
export const slotOfFirst = (seconds: number, fps: number): number => Math.round(seconds * fps);

/** True if the slot of a time depends on rounding. */
export const isUnsure = (seconds: number, fps: number): boolean =>
  Math.abs(seconds * fps - Math.floor(seconds * fps) - 0.5) < UNSURE;

/**
 * The slots of all frames in a run over the whole source, as `-fps_mode vfr` assigns them (ffmpeg 7.0,
 * video_sync_process in ffmpeg_filter.c). A frame that comes too early for the next slot is moved there, so a slot may
 * depend on earlier frames. Null: the frame is dropped.
 */
export function slotsOfAll(seconds: Iterable<number>, fps: number): (number | null)[] {
  const slots: (number | null)[] = [];
  let next = 0;
  for (const time of seconds) {
    let at = time * fps;
    const early = at - next;
    // Frames last one slot each.
    const end = early + 1;
    if (early < 0 && end > 0) at = next;
    if (end <= -0.6) {
      slots.push(null);
      continue;
    }
    if (end > 0.6) next = Math.round(at);
    slots.push(next);
    next += 1;
  }
  return slots;
}
