// Clips with a time code in their frames and beeps at known times, so that tests can compare outputs with the clock.
// Each clip has a trait of real sources.
import { existsSync } from "node:fs";
import { copyFile, rename, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { ffmpeg, makeGenerated } from "../clip-cache.ts";
import { rotate } from "../media.ts";
import { BLOCKS, TIME_BITS } from "../players/time-code.ts";

const WIDTH = `iw/${BLOCKS}`;
const box = (column: number, color: string, when = "1"): string =>
  `drawbox=x=iw*${column}/${BLOCKS}:y=0:w=${WIDTH}:h=ih/6:color=${color}:t=fill:enable='${when}'`;
const bit = (index: number): string => `gt(bitand(floor(t*1000+0.5)\\,${2 ** index})\\,0)`;
const BITS = Array.from({ length: TIME_BITS }, (_, index) => bit(index));

/** Draws the row of blocks of players/time-code.ts with the frame's time. */
const TIME_CODE = [
  "drawbox=x=0:y=0:w=iw:h=ih/6:color=black:t=fill",
  box(0, "white"),
  ...BITS.map((when, index) => box(index + 2, "white", when)),
  box(BLOCKS - 1, "white", `eq(mod(${BITS.join("+")}\\,2)\\,1)`),
].join(",");

/** Beeps for 0.1 s at each odd second of the video. `late`: start of the audio. */
const beep = (late: number): string => `if(lt(mod(t+1+${late}\\,2)\\,0.1)\\,0.8*sin(2*PI*1000*t)\\,0)`;
const beeps = (channels: number, late = 0): string[] => [
  ...(late ? ["-itsoffset", String(late)] : []),
  ...["-f", "lavfi", "-i", `aevalsrc=${Array(channels).fill(beep(late)).join("|")}:s=48000:c=${channels}c`],
];
const testPattern = (size: string, rate: string, filters = ""): string[] => [
  ...["-f", "lavfi", "-i", `testsrc2=size=${size}:rate=${rate},${TIME_CODE}${filters}`],
];
const length = (seconds: number): string[] => ["-t", String(seconds)];
const h264 = ["-c:v", "libx264", "-preset", "ultrafast", "-crf", "18", "-pix_fmt", "yuv420p"];
const aac = ["-c:a", "aac"];
const passed = ["-fps_mode", "passthrough"];

type Clip = {
  readonly argv: readonly string[] | null;
  /** The original clip, if `argv` is null. */
  readonly from?: StreamClip;
  /** Duration of the video, or of the audio if there is no video. */
  readonly seconds: number;
  /** The longest time between two frames; 0: no video. */
  readonly frameSeconds: number;
  readonly audio: boolean;
  /** The time code of the frame at time 0, in seconds. */
  readonly codeAtStart?: number;
  /** Start of the audio. */
  readonly audioFrom?: number;
};

const NTSC = 1001 / 30000;
/**
 * Formats without edit lists include the AAC encoder's priming of 1024 samples. The file starts with it, and the video
 * starts that much later.
 */
const PRIMING = { codeAtStart: -1024 / 48000 };
const sizes = { large: "854x480", small: "426x240", other: "320x180", portrait: "180x320", odd: "321x181" };
/** 14.5 s at 29.97 frames per second. */
const ntsc = (size: string) => ({
  argv: [...testPattern(size, "30000/1001"), ...beeps(2), ...length(14.5), ...h264, ...aac],
  seconds: 14.5,
  frameSeconds: NTSC,
  audio: true,
});

export const STREAM_CLIPS = {
  "video.mp4": ntsc(sizes.large),
  "small.mp4": ntsc(sizes.small),
  /** Long enough for chunks. Its time code restarts every 2^15 ms. */
  "long.mp4": {
    argv: [...testPattern(sizes.other, "25"), ...beeps(2), ...length(80), ...h264, "-g", "50", ...aac],
    seconds: 80,
    frameSeconds: 0.04,
    audio: true,
  },
  "cinema.mkv": {
    argv: [...testPattern(sizes.other, "24000/1001"), ...beeps(2), ...length(7), ...h264, ...aac],
    seconds: 7,
    frameSeconds: 1001 / 24000,
    audio: true,
    ...PRIMING,
  },
  /** The frames between a quarter and a half of each second are missing. */
  "uneven.mkv": {
    argv: [
      ...testPattern(sizes.other, "30", ",select='not(between(mod(t\\,1)\\,0.25\\,0.5))'"),
      ...[...beeps(2), ...length(7), ...passed, ...h264, ...aac],
    ],
    seconds: 7,
    frameSeconds: 0.3,
    audio: true,
    ...PRIMING,
  },
  /** No new frame for four seconds. */
  "still.mkv": {
    argv: [
      ...testPattern(sizes.other, "30", ",select='not(between(t\\,4.5\\,8.5))'"),
      ...[...beeps(2), ...length(13), ...passed, ...h264, ...aac],
    ],
    seconds: 13,
    frameSeconds: 4.1,
    audio: true,
    ...PRIMING,
  },
  /** A frame every four seconds. */
  "slides.mkv": {
    argv: [...testPattern(sizes.other, "1/4"), ...beeps(2), ...length(16), ...h264, ...aac],
    seconds: 16,
    frameSeconds: 4,
    audio: true,
    ...PRIMING,
  },
  /** MPEG-TS, whose timestamps start at 1.4 s. */
  "broadcast.ts": {
    argv: [...testPattern(sizes.other, "25"), ...beeps(2), ...length(7), ...h264, ...aac, "-f", "mpegts"],
    seconds: 7,
    frameSeconds: 0.04,
    audio: true,
    ...PRIMING,
  },
  /** Coded in landscape with a rotation matrix. */
  "portrait.mp4": { argv: null, from: "landscape.mp4", seconds: 3, frameSeconds: 0.04, audio: true },
  "landscape.mp4": {
    argv: [...testPattern(sizes.portrait, "25", ",transpose=clock"), ...beeps(2), ...length(3), ...h264, ...aac],
    seconds: 3,
    frameSeconds: 0.04,
    audio: true,
  },
  /** Odd width and height, no audio. */
  "odd.mp4": {
    argv: [...testPattern(sizes.odd, "25"), ...length(7), ...h264, "-pix_fmt", "yuv444p"],
    seconds: 7,
    frameSeconds: 0.04,
    audio: false,
  },
  "audio.m4a": { argv: [...beeps(2), ...length(7), ...aac], seconds: 7, frameSeconds: 0, audio: true },
  "surround.mkv": {
    argv: [...testPattern(sizes.other, "25"), ...beeps(6), ...length(7), ...h264, ...aac],
    seconds: 7,
    frameSeconds: 0.04,
    audio: true,
    ...PRIMING,
  },
  /** The audio starts two seconds after the video. */
  "late-audio.mp4": {
    argv: [...testPattern(sizes.other, "25"), ...beeps(2, 2), ...length(7), ...h264, ...aac],
    seconds: 7,
    frameSeconds: 0.04,
    audio: true,
    audioFrom: 2,
  },
  /** An edit list skips the first 1.2 s, up to the middle of a GOP. */
  "edited.mp4": { argv: null, from: "video.mp4", seconds: 13.3, frameSeconds: NTSC, audio: true, codeAtStart: 1.2 },
  /** Its index promises twice the actual data. */
  "truncated.mp4": { argv: null, from: "video.mp4", seconds: 14.5, frameSeconds: NTSC, audio: true },
} as const satisfies Record<string, Omit<Clip, "from"> & { from?: string }>;

export type StreamClip = keyof typeof STREAM_CLIPS;

/** Path of the clip in the folder. Makes the clip if it does not exist. */
export async function makeStreamClip(name: StreamClip, folder: string): Promise<string> {
  const path = join(folder, name);
  if (existsSync(path)) return path;
  const draft = join(folder, `new-${process.pid}-${name}`);
  const clip: Clip = STREAM_CLIPS[name];
  if (clip.argv) await makeGenerated(clip.argv, draft);
  else if (clip.from) await DERIVED[name]?.(await makeStreamClip(clip.from, folder), draft);
  await rename(draft, path);
  return path;
}

const DERIVED: Partial<Record<StreamClip, (from: string, to: string) => Promise<void>>> = {
  "portrait.mp4": rotate,
  "edited.mp4": (from, to) => ffmpeg(["-ss", "1.2", "-i", from, "-c", "copy", to]),
  "truncated.mp4": async (from, to) => {
    const fast = `${to}.fast.mp4`;
    await ffmpeg(["-i", from, "-c", "copy", "-movflags", "+faststart", fast]);
    await copyFile(fast, to);
    await truncate(to, Math.round((await stat(fast)).size / 2));
  },
};
