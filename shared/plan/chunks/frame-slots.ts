// Which frame of a constant rate each frame of a source becomes.
import { fraction, type MediaProbe } from "../../media/media-probe.ts";
import { chooseTracks } from "../source/source-tracks.ts";

/** Times that are nearer than this to the middle between two slots are rounded by chance. In slots. */
const UNSURE = 0.01;

/**
 * The rate on which ffmpeg lays the frames of a film that is said to have a constant one, in frames per second: where no
 * time base is given, encoders count in this (`r_frame_rate`). Null where frames keep their own times.
 */
export function slotRate(probe: MediaProbe): number | null {
  const { video } = chooseTracks(probe);
  if (!video?.constantRate) return null;
  return fraction(probe.streams.find(({ index }) => index === video.streamIndex)?.r_frame_rate);
}

/** The slot of a frame with no other before it, by its time in seconds. */
export const slotOfFirst = (seconds: number, fps: number): number => Math.round(seconds * fps);

/** Whether rounding decides by chance which slot a time is in. */
export const isUnsure = (seconds: number, fps: number): boolean =>
  Math.abs(seconds * fps - Math.floor(seconds * fps) - 0.5) < UNSURE;

/**
 * The slot that a run over all frames gives to each, as `-fps_mode vfr` has it (ffmpeg 7.0, video_sync_process in
 * ffmpeg_filter.c): a frame that comes too early for the next slot is moved there, so that its slot may depend on those
 * before it. Null for a slot means that the frame is left out.
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
