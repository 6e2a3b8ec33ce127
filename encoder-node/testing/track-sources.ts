// Sources whose tracks end or begin at different times, are lost in part, or never come.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { OutputOptions } from "#shared/testing/output-specs.ts";
import { toolEnvironment } from "../ffmpeg/sandbox/tool-environment.ts";
import { FFPROBE } from "./plan-runs.ts";
import type { SourceWorkshop } from "./source-workshop.ts";

const run = promisify(execFile);

/** The codecs of a small source in a container, by the extension of its name. */
const CODECS: Readonly<Record<string, string>> = {
  mp4: "-c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 10 -c:a aac",
  webm: "-c:v libvpx -deadline realtime -cpu-used 8 -g 10 -c:a libopus",
  ogv: "-c:v libtheora -g 10 -c:a libvorbis",
  avi: "-c:v mpeg4 -g 10 -c:a libmp3lame",
  mpg: "-c:v mpeg2video -g 10 -c:a mp2 -f vob",
};
const codecsOf = (extension: string): string => CODECS[extension] ?? CODECS.mp4 ?? "";

const video = (seconds: number): string => `-f lavfi -i testsrc2=s=64x36:r=25:d=${seconds}`;
const tone = (seconds: number): string => `-f lavfi -i sine=r=48000:d=${seconds}`;

/** Also has a variant of audio alone. */
export const TRACK_STREAM: OutputOptions = {
  format: "httpstream",
  params: { hls: { path: "h" }, variants: ["mp4:64x:48k", "mp4:x:48k"] },
};

export type TrackSource = (workshop: SourceWorkshop, extension: string) => Promise<string>;

/** 3 s of video, 1.5 s of audio. */
export const shortAudio: TrackSource = ({ make }, extension) =>
  make(`short-audio.${extension}`, `${video(3)} ${tone(1.5)} ${codecsOf(extension)}`);

/** 1.5 s of video, 3 s of audio. */
export const shortVideo: TrackSource = ({ make }, extension) =>
  make(`short-video.${extension}`, `${video(1.5)} ${tone(3)} ${codecsOf(extension)}`);

/** 4 s of video; the audio begins at 2 s. */
export const lateAudio: TrackSource = ({ make }, extension) =>
  make(`late-audio.${extension}`, `${video(4)} -itsoffset 2 ${tone(2)} ${codecsOf(extension)}`);

/** 4 s of audio; the video begins at 2 s. */
export const lateVideo: TrackSource = ({ make }, extension) =>
  make(`late-video.${extension}`, `-itsoffset 2 ${video(2)} ${tone(4)} -fps_mode vfr ${codecsOf(extension)}`);

/**
 * 3 s; the bytes of the video's packets from 1.5 s on are zero, as after a failed copy. The whole audio is intact. Of
 * containers that hold H.264 with lengths.
 */
export const videoLost: TrackSource = async ({ make, edit }, extension) => {
  const whole = await make("whole.mp4", `${video(3)} ${tone(3)} ${codecsOf("mp4")}`);
  const entries = "packet=pts_time,pos,size";
  const argv = ["-v", "error", "-select_streams", "v", "-show_entries", entries, "-of", "csv=p=0", whole];
  const { stdout } = await run(FFPROBE, argv, { env: toolEnvironment() });
  const lost = await edit("whole.mp4", "lost.mp4", (bytes) => {
    for (const [seconds = 0, size = 0, from = 0] of stdout.split("\n").map((line) => line.split(",").map(Number))) {
      if (seconds >= 1.5) bytes.fill(0, from, from + size);
    }
    return bytes;
  });
  return extension === "mp4" ? lost : make(`lost.${extension}`, "-i lost.mp4 -c copy");
};
