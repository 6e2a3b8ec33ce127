// Sources whose tracks start or end at different times, are lost in part, or never come.
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import type { OutputOptions } from "#shared/testing/output-specs.ts";
import { toolEnvironment } from "../../ffmpeg/sandbox/tool-environment.ts";
import { FFPROBE } from "../plan-runs.ts";
import type { SourceWorkshop } from "../source-workshop.ts";

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

/** 4 s of video; the audio starts at 2 s. */
export const lateAudio: TrackSource = ({ make }, extension) =>
  make(`late-audio.${extension}`, `${video(4)} -itsoffset 2 ${tone(2)} ${codecsOf(extension)}`);

/** 4 s of audio; the video starts at 2 s. */
export const lateVideo: TrackSource = ({ make }, extension) =>
  make(`late-video.${extension}`, `-itsoffset 2 ${video(2)} ${tone(4)} -fps_mode vfr ${codecsOf(extension)}`);

/** Writes a copy in which the bytes of the video's packets are zero from a time on, as after a failed copy. */
async function withoutVideo({ edit }: SourceWorkshop, whole: string, fromSeconds: number): Promise<string> {
  const entries = "packet=pts_time,pos,size";
  const argv = ["-v", "error", "-select_streams", "v", "-show_entries", entries, "-of", "csv=p=0", whole];
  const { stdout } = await run(FFPROBE, argv, { env: toolEnvironment() });
  return edit(basename(whole), "lost.mp4", (bytes) => {
    for (const [seconds = 0, size = 0, from = 0] of stdout.split("\n").map((line) => line.split(",").map(Number))) {
      if (seconds >= fromSeconds) bytes.fill(0, from, from + size);
    }
    return bytes;
  });
}

/** 3 s; the video is lost from 1.5 s on, the audio is intact. Only for containers that store H.264 with lengths. */
export const videoLost: TrackSource = async (workshop, extension) => {
  const whole = await workshop.make("whole.mp4", `${video(3)} ${tone(3)} ${codecsOf("mp4")}`);
  const lost = await withoutVideo(workshop, whole, 1.5);
  return extension === "mp4" ? lost : workshop.make(`lost.${extension}`, "-i lost.mp4 -c copy");
};

/** A single frame, as a cover, with 3 s of audio. */
export const oneFrame: TrackSource = ({ make }, extension) =>
  make(`one-frame.${extension}`, `${video(0.04)} ${tone(3)} ${codecsOf(extension)}`);

/** 40 s with a keyframe every 10 s; the video is lost from 32 s on. */
export const longVideoLost: TrackSource = async (workshop) => {
  const rare = `-c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 50 -keyint_min 50`;
  const whole = await workshop.make("long.mp4", `${video(40).replace("r=25", "r=5")} ${rare}`);
  return withoutVideo(workshop, whole, 32);
};

/** Concatenates files. */
async function joined({ folder }: SourceWorkshop, name: string, files: readonly string[]): Promise<string> {
  await writeFile(join(folder, name), Buffer.concat(await Promise.all(files.map((file) => readFile(file)))));
  return join(folder, name);
}

/** The header of an FLV file, which does not come again when a transmission goes on. */
const FLV_HEADER_BYTES = 13;

/** Three parts of 2 s with 100 frames a second, joined as `cat` does: the clock restarts with each. */
export const restarted: TrackSource = async (workshop, extension) => {
  const fast = video(2).replace("r=25", extension === "mpg" ? "r=50" : "r=100");
  const part = await workshop.make(`part.${extension}`, `${fast} ${tone(2)} ${codecsOf(extension)}`);
  const later =
    extension === "flv"
      ? await workshop.edit("part.flv", "later.flv", (bytes) => bytes.subarray(FLV_HEADER_BYTES))
      : part;
  return joined(workshop, `restarted.${extension}`, [part, later, later]);
};

/** Two parts of 2 s; the clock leaps by an hour in between, as where segments were lost. */
export const leaping: TrackSource = async (workshop, extension) => {
  const part = (name: string, offset: number): Promise<string> =>
    workshop.make(`${name}.${extension}`, `${video(2)} ${tone(2)} ${codecsOf(extension)} -output_ts_offset ${offset}`);
  return joined(workshop, `leaping.${extension}`, [await part("first", 10), await part("later", 3612)]);
};

/** Two parts of audio of 2 s, as in recordings of radio: an Ogg stream after another. */
export const chained: TrackSource = async (workshop, extension) => {
  const part = await workshop.make(`chain.${extension}`, `${tone(2)} -c:a libvorbis`);
  return joined(workshop, `chained.${extension}`, [part, part]);
};

/** Video and audio from 2 s to 4 s, and other audio that starts at 0. Outputs do not use the other audio. */
export const earlyUnused: TrackSource = ({ make }, extension) => {
  const late = `-itsoffset 2 ${video(2)} -itsoffset 2 ${tone(2)}`;
  const tracks = `${late} ${tone(4)} -map 0 -map 1 -map 2 -fps_mode vfr -disposition:a:0 default`;
  return make(`early-unused.${extension}`, `${tracks} ${codecsOf(extension)}`);
};

/** 2 s of video, and an audio track without packets. */
export const silentTrack: TrackSource = ({ make }, extension) =>
  make(
    `silent-track.${extension}`,
    `${video(2)} ${tone(1)} -map 0 -map 1 ${codecsOf(extension)} -bsf:a noise=drop=1 -flush_packets 0`,
  );

/** 2 s of video, an audio track without packets, and a track with audio. */
const NEVER = "-bsf:a:0 noise=drop=1 -bsf:a:2 noise=drop=1";

export const secondAudio: TrackSource = ({ make }, extension) =>
  make(
    `second-audio.${extension}`,
    `${video(2)} ${tone(2)} ${tone(2)} ${tone(2)} -map 0 -map 1 -map 2 -map 3 ${codecsOf(extension)} ${NEVER}`,
  );

/** 3 s of MPEG-2, then 3 s of H.264 in the same track, as where a broadcast changes its codec; 6 s of audio. */
export const codecChange: TrackSource = async (workshop, extension) => {
  const part = (name: string, codec: string, offset: number): Promise<string> =>
    workshop.make(`${name}.${extension}`, `${video(3)} ${tone(3)} ${codec} -c:a mp2 -output_ts_offset ${offset}`);
  const files = [
    await part("older", "-c:v mpeg2video", 0),
    await part("newer", "-c:v libx264 -preset ultrafast -pix_fmt yuv420p", 3),
  ];
  return joined(workshop, `codec-change.${extension}`, files);
};
