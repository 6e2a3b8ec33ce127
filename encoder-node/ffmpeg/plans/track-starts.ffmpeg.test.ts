// Outputs of sources whose tracks start at different times: in chunks and as a whole, and against the source.
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";
import type { OutputOptions } from "#shared/testing/output-specs.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { few } from "../../testing/few.ts";
import { look, lossless, makeBoth, type Shown } from "../../testing/jobs/chunked-encodes.ts";
import { makeClip, REFERENCE_FFMPEG } from "../../testing/plan-runs.ts";
import { toolEnvironment } from "../sandbox/tool-environment.ts";

const folder = fileFolder();

const FPS = 25;
const SPLITS = [0.9];
const VIDEO = `-f lavfi -i testsrc2=s=64x64:r=${FPS}:d=2.4`;
const UNEVEN_VIDEO = `${VIDEO},select=not(between(mod(t\\,1)\\,0.25\\,0.5)),settb=1/90000`;
/** A tone starts in its middle. Its length is no whole number of packets. */
const AUDIO = "-f lavfi -i aevalsrc=0.8*sin(880*PI*t)*gte(t\\,1):s=48000:d=1.777";
const X264 = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p -bf 2 -g 12";
const PLAIN = `${VIDEO} ${AUDIO} ${X264} -c:a aac`;

const FILES: readonly OutputOptions[] = [
  ...["mp4", "mov:h264:pcm-s16le", "mkv", "mkv:h264:opus", "webm:vp9:opus", "mp4:h264:opus", "mp4:h264:flac"],
  ...["mpegts", "flv:h264:aac", "avi:h264"],
].map((format) => ({ format }));
const STREAM: OutputOptions = {
  format: "httpstream",
  params: { hls: { path: "h" }, dash: { path: "d" }, segment_duration: 2, variants: ["mp4:x64:48k"] },
};

/** A gap in audio with frames of 10 ms. */
const gapAt = (start: number, seconds: number): string =>
  `aselect=not(between(t\\,${start}\\,${start + seconds - 0.001}))`;

/** `plain`: makes the file that `make` reads. */
type Source = {
  readonly name: string;
  readonly file: string;
  readonly make: string;
  readonly plain?: string;
  /** Largest error of the tone's time in seconds; left out: a frame. */
  readonly within?: number;
};
const SOURCES: readonly Source[] = [
  ...[
    [0.06, 0.03],
    [0.09, 0.08],
    [0.02, 0.6],
  ].map(([late = 0, gap = 0]) => ({
    name: `audio that starts after ${late} s, with a gap of ${gap} s`,
    file: "a.mkv",
    make: `${VIDEO} -itsoffset ${late} ${AUDIO}:n=480 -af ${gapAt(0.2, gap)} ${X264} -c:a pcm_s16le`,
    within: 0.008,
  })),
  { name: "late audio in MP4", file: "a.mov", make: `${VIDEO} -itsoffset 0.513 ${AUDIO} ${X264} -c:a pcm_s16le` },
  { name: "audio that starts 21 ms early in Matroska, for its priming", file: "a.mkv", make: PLAIN },
  {
    name: "audio in Opus, which starts 7 ms early in Matroska",
    file: "a.mkv",
    make: `${VIDEO} ${AUDIO} ${X264} -c:a libopus`,
  },
  { name: "an edit list", file: "a.mp4", make: "-ss 0.3 -i plain.mp4 -c copy", plain: PLAIN },
  { name: "early audio in MPEG-TS", file: "a.ts", make: `-itsoffset 0.2 ${VIDEO} ${AUDIO} ${X264} -c:a aac` },
  { name: "video that starts a frame late", file: "a.mp4", make: `-itsoffset 0.04 ${VIDEO} ${AUDIO} ${X264} -c:a aac` },
  { name: "a variable frame rate", file: "a.mp4", make: `${UNEVEN_VIDEO} ${AUDIO} -fps_mode vfr ${X264} -c:a aac` },
];

few(1).each(SOURCES)("keeps the times of $name, in chunks and as a whole", async (row) => {
  const { file, make, plain, within = TOLERANCE } = row;
  if (plain) await makeClip(folder, "plain.mp4", plain);
  await makeClip(folder, file, make);
  const source = path.join(folder, file);
  const tone = await toneAt(source, await look(source));
  const both = await makeBoth(source, [...FILES, STREAM], SPLITS, lossless);
  for (const { files, stream, output } of both.whole.outputs) {
    const names = stream ? stream.tracks.flatMap(({ fmp4 }) => fmp4 ?? []) : files;
    let video: Shown | null = null;
    for (const name of names) {
      const [whole, joined] = [path.join(both.whole.folder, name), path.join(both.joined.folder, name)];
      const [wholeLook, joinedLook] = [await look(whole), await look(joined)];
      expect(timesOf(joinedLook), name).toEqual(timesOf(wholeLook));
      expect(joinedLook.audio, name).toBe(wholeLook.audio);
      if (joinedLook.frames.length > 0) video = joinedLook;
      if (isLossy(output)) continue;
      if (!stream) expect(hashesOf(joinedLook), name).toEqual(hashesOf(wholeLook));
      if (!video || joinedLook.audio === null) continue;
      const most = name.endsWith(".avi") ? TOLERANCE : within;
      expect(Math.abs((await toneAt(joined, video, tone.hash)).delay - tone.delay), name).toBeLessThan(most);
    }
  }
});

/** A frame: constant rates are rounded to whole frames, and avi and ffmpeg 5.1 (Opus in Matroska) lose a delay. */
const TOLERANCE = 1 / FPS;

const isLossy = (output: number): boolean => FILES[output]?.format.startsWith("webm") ?? false;
const hashesOf = ({ frames }: Shown): string[] => frames.map(({ hash }) => hash);
/** The start of each track and each frame. The length of a last packet depends on what containers state. */
const timesOf = ({ frames, spans }: Shown): string[][] => [
  frames.map(({ seconds }) => seconds.toFixed(4)),
  spans.map(([start]) => start.toFixed(4)),
];

/** Time from a frame in the middle to the start of the tone, in seconds. `hash`: the frame; otherwise chosen. */
async function toneAt(
  file: string,
  { frames }: Shown,
  hash = frames[20]?.hash,
): Promise<{ hash?: string; delay: number }> {
  const filter = "aresample=48000:async=1:min_hard_comp=0.001:first_pts=0";
  const argv = ["-v", "error", "-copyts", "-i", file, "-vn", "-af", filter];
  const options = { env: toolEnvironment(), encoding: "buffer", maxBuffer: 2 ** 24 } as const;
  const { stdout } = await promisify(execFile)(REFERENCE_FFMPEG, [...argv, "-ac", "1", "-f", "s16le", "-"], options);
  const samples = new Int16Array(stdout.buffer.slice(stdout.byteOffset, stdout.byteOffset + (stdout.length & ~1)));
  const frame = frames.find((candidate) => candidate.hash === hash);
  if (!frame || !hash) throw new Error("The frame is missing");
  return { hash, delay: samples.findIndex((sample) => Math.abs(sample) > 12_000) / 48_000 - frame.seconds };
}
