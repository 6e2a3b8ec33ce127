// Moves and clips the events of an ASS script, and keeps everything else.
import { clockMs } from "#shared/media/clock-time.ts";
import type { ShownPart } from "../moved-cues.ts";

/** True if a text has the first section of ASS or SSA. */
export const isAss = (text: string): boolean => /^\s*\[Script Info\]/i.test(text);

/** An event as ffmpeg writes it: its layer, its times in hundredths of a second, and the rest. */
const EVENT = /^(Dialogue: [^,]*,)(\d+):(\d\d):(\d\d)\.(\d\d),(\d+):(\d\d):(\d\d)\.(\d\d)(,.*)$/;

/** The script with `shiftMs` added to its times, for the part of the source. Drops events outside of the part. */
export function clippedAss(script: string, shiftMs: number, { fromMs, toMs, leadMs }: ShownPart): string {
  const clip = (ms: number): number => Math.min(toMs, Math.max(fromMs, ms + shiftMs)) - fromMs;
  return script
    .split(/\r?\n/)
    .flatMap((line) => {
      const match = EVENT.exec(line);
      if (!match) return [line];
      const [start, end] = [clip(clockMs(match.slice(2, 6))), clip(clockMs(match.slice(6, 10)))];
      return start < end ? [`${match[1]}${assTime(start + leadMs)},${assTime(end + leadMs)}${match[10]}`] : [];
    })
    .join("\n");
}

/** A time as `0:00:01.00`, rounded up to hundredths of a second. */
export function assTime(ms: number): string {
  const hundredths = Math.ceil(ms / 10);
  const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  const [hours, minutes, seconds] = [hundredths / 360_000, (hundredths / 6000) % 60, (hundredths / 100) % 60];
  return `${Math.floor(hours)}:${two(minutes)}:${two(seconds)}.${two(hundredths % 100)}`;
}
