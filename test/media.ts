// Clips like real sources, made by ffmpeg: small, each with a trait that breaks encoders.
import { existsSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ffmpeg, makeGenerated } from "./clip-cache.ts";

const SECONDS = "3";
const testPattern = (size: string, rate: string): string[] =>
  `-f lavfi -i testsrc2=size=${size}:rate=${rate}`.split(" ");
const tone = ["-f", "lavfi", "-i", "sine=frequency=440:sample_rate=44100"];
const h264 = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"];
const aac = ["-c:a", "aac", "-ac", "2"];

/** Drops the frames between a quarter and a half of each second, as phones do in the dark. */
const UNEVEN = "select='not(between(mod(t,1),0.25,0.5))'";

/** ffmpeg's arguments before the file name; null for clips that need more than an ffmpeg run. */
const CLIPS = {
  /** 640x360, 30000/1001 frames per second, stereo audio. */
  "ntsc.mp4": [...testPattern("640x360", "30000/1001"), ...tone, "-t", SECONDS, ...h264, ...aac],
  /** 90 frames of noise: a second of it takes many megabytes. */
  "noise.mp4": [
    ...testPattern("640x360", "30"),
    ...tone,
    ...["-t", SECONDS, "-vf", "noise=alls=100:allf=t"],
    ...h264,
    ...aac,
  ],
  /** Coded as 640x360, displayed in portrait as 360x640. */
  "rotated.mp4": null,
  /** Odd size, no audio. */
  "silent.mp4": [...testPattern("322x182", "25"), "-t", SECONDS, ...h264],
  "audio-only.m4a": [...tone, "-t", SECONDS, ...aac],
  /** Variable frame rate. */
  "uneven.mkv": [
    ...[...testPattern("320x240", "30"), ...tone],
    ...["-t", SECONDS, "-vf", UNEVEN, "-fps_mode", "vfr", ...h264, ...aac],
  ],
  /** MPEG-TS, whose timestamps start at 1.4 s and whose duration is an estimate. */
  "broadcast.ts": [...testPattern("320x240", "25"), ...tone, "-t", SECONDS, ...h264, ...aac, "-f", "mpegts"],
  /** Plain text under the name of a video. */
  "text.mp4": null,
} as const satisfies Record<string, readonly string[] | null>;

export type ClipName = keyof typeof CLIPS;

/** Path of the clip in the folder. Makes the clip if it does not exist. */
export async function makeClip(name: ClipName, folder: string): Promise<string> {
  const path = join(folder, name);
  if (existsSync(path)) return path;
  const draft = join(folder, `new-${process.pid}-${name}`);
  if (name === "text.mp4") await writeFile(draft, "This file is plain text.\n".repeat(1000));
  else if (name === "rotated.mp4") await rotate(await makeClip("ntsc.mp4", folder), draft);
  else await makeGenerated(CLIPS[name] ?? [], draft);
  await rename(draft, path);
  return path;
}

/** A copy with rotation metadata and the same frames. ffmpeg before 6.0 reads the tag. */
export async function rotate(source: string, draft: string): Promise<void> {
  const byMatrix = ["-display_rotation", "90", "-i", source, "-c", "copy", draft];
  const byTag = ["-i", source, "-c", "copy", "-metadata:s:v:0", "rotate=90", draft];
  await ffmpeg(byMatrix).catch(() => ffmpeg(byTag));
}

/** A copy with every tag that the contract names. */
export async function tagged(path: string, copy: string): Promise<string> {
  const tags = ["title", "artist", "composer", "comment", "genre"].flatMap((tag) => [
    "-metadata",
    `${tag}=some ${tag}`,
  ]);
  const languages = ["-metadata:s:v:0", "language=eng", "-metadata:s:a:0", "language=eng"];
  await ffmpeg(["-i", path, "-c", "copy", ...tags, ...languages, copy]);
  return copy;
}

/** A clip of any size and duration, for slow work: a moving test pattern with a tone. */
export async function makeLongClip(folder: string, seconds: number, size = "1280x720", rate = 30): Promise<string> {
  const path = join(folder, `long-${size}-${rate}-${seconds}.mp4`);
  if (existsSync(path)) return path;
  await makeGenerated([...testPattern(size, String(rate)), ...tone, "-t", String(seconds), ...h264, ...aac], path);
  return path;
}
