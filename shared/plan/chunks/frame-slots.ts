// Assigns the frames of a source to the slots of a constant rate.
import { fraction, type MediaProbe } from "../../media/media-probe.ts";
import { chooseTracks } from "../source/source-tracks.ts";

/** The slot of a time this close to the middle between two slots depends on rounding. In slots. */
const UNSURE = 0.01;

/**
 * Rate, in frames per second, at which ffmpeg places the frames of a source with a constant rate (`r_frame_rate`).
 * Encoders count in it if no time base is given. Null if frames keep their own times.
 */
export function slotRate(probe: MediaProbe): number | null {
  const { video } = chooseTracks(probe);
  if (!video?.constantRate) return null;
  return fraction(probe.streams.find(({ index }) => index === video.streamIndex)?.r_frame_rate);
}

/** Slot of a run's first frame, by its time in seconds. */
export const slotOfFirst = (seconds: number, fps: number): number => Math.round(seconds * fps);

/** True if the slot of a time depends on rounding. */
export const isUnsure = (seconds: number, fps: number): boolean =>
  Math.abs(seconds * fps - Math.floor(seconds * fps) - 0.5) < UNSURE;

/**
 * Slots of all frames in a run over the whole source, as `-fps_mode vfr` assigns them (ffmpeg 7.0, video_sync_process
 * in ffmpeg_filter.c). A frame that comes too early for the next slot is moved there. A slot may therefore depend on
 * earlier frames. Null: the frame is dropped.
 */
export function slotsOfAll(seconds: Iterable<number>, fps: number): (number | null)[] {
  const slots: (number | null)[] = [];
  let next = 0;
  for (const time of seconds) {
    let at = time * fps;
    const early = at - next;
    // Each frame takes a single slot.
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
