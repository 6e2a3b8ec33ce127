// Every container with every codec that it holds, of sources of many kinds, written by a real ffmpeg and decoded to the end.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AudioCodec, VideoCodec } from "#shared/format/codecs.ts";
import { TRACK_CONTAINER_TRAITS, TRACK_CONTAINERS, type TrackContainer } from "#shared/format/containers.ts";
import { MediaProbe, type ProbedStream } from "#shared/media/media-probe.ts";
import type { OutputOptions } from "#shared/testing/output-specs.ts";
import { encodeClip, FFMPEG, FFPROBE, makeClip, REFERENCE_FFMPEG } from "../../testing/plan-runs.ts";
import { listEncoders } from "../build/listings.ts";
import { toolEnvironment } from "../sandbox/tool-environment.ts";

const run = promisify(execFile);
const env = toolEnvironment();

const X264 = "-c:v libx264 -preset ultrafast";
const STEREO = "-f lavfi -i aevalsrc=sin(880*t)|sin(990*t):d=0.8:s=44100";
const SURROUND =
  "aevalsrc=0.1*sin(800*t)|0.1*sin(900*t)|0.1*sin(700*t)|0|0.1*sin(600*t)|0.1*sin(500*t):c=5.1(side):d=0.8";
const CLIPS: Readonly<Record<string, string>> = {
  "normal.mp4": `-f lavfi -i testsrc2=s=256x144:r=25:d=0.8 ${STEREO} ${X264} -c:a aac -metadata title=Film`,
  "rotated.mp4": "-display_rotation 90 -i normal.mp4 -c copy",
  "silent.mp4": "-i normal.mp4 -map 0:v -c copy",
  "sound.m4a": "-i normal.mp4 -map 0:a -c copy",
  "odd.mp4": `-f lavfi -i testsrc2=s=257x145:r=25:d=0.8,format=yuv444p ${STEREO} ${X264} -c:a aac -metadata title=Film`,
  "jitter.mp4": `-f lavfi -i testsrc2=s=256x144:r=30:d=0.8,settb=1/1000,setpts='floor(N*1000/30+31*random(1))' ${STEREO} -fps_mode passthrough -enc_time_base 1/1000 ${X264} -bf 0 -c:a aac -metadata title=Film`,
  "surround.mkv": `-f lavfi -i testsrc2=s=256x144:r=25:d=0.8 -f lavfi -i ${SURROUND} ${X264} -c:a ac3 -metadata title=Film`,
};

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "matrix-"));
  for (const [name, options] of Object.entries(CLIPS)) await makeClip(folder, name, options);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Wanted = { container: TrackContainer; video: VideoCodec | null; audio: AudioCodec | null };

/** DNxHR takes no picture below 256×120, which a rotated one is. */
const formatOf = ({ container, video, audio }: Wanted): string =>
  TRACK_CONTAINER_TRAITS[container].video.length === 0
    ? `${container}:${audio}`
    : [container, video ? `${video === "dnxhd" ? "480x_" : ""}${video}` : "x", audio ?? (video ? "" : "x")].join(":");

const FILMS: readonly Wanted[] = TRACK_CONTAINERS.flatMap((container) =>
  TRACK_CONTAINER_TRAITS[container].video.map((video) => ({ container, video, audio: null })),
);
/** Debian's ffmpeg has no encoder for AMR. */
const listed = await listEncoders({ path: FFMPEG, version: "", origin: "env" });
const isThere = (codec: AudioCodec): boolean => codec !== "amr-nb" || listed.has("libopencore_amrnb");
const SOUNDS: readonly Wanted[] = TRACK_CONTAINERS.flatMap((container) =>
  TRACK_CONTAINER_TRAITS[container].audio.filter(isThere).map((audio) => ({ container, video: null, audio })),
);

/** What ffprobe calls codecs. In mp4 the layers of MPEG audio are not told apart. */
const NAMES: Readonly<Record<string, string>> = {
  "prores-ks": "prores",
  flv: "flv1",
  mp2: "mp[23]",
  "amr-nb": "amr_nb",
};
const nameOf = (codec: string): RegExp => new RegExp(`^${NAMES[codec] ?? codec.replace("-", "_")}$`);

async function probe(file: string): Promise<MediaProbe> {
  const options = ["-v", "error", "-count_packets", "-show_format", "-show_streams", "-of", "json", file];
  return MediaProbe.parse(JSON.parse((await run(FFPROBE, options, { env })).stdout));
}

/** Decodes all files to their ends; answers what is said of them on the way. */
async function decodeAll(files: readonly string[]): Promise<string> {
  const inputs = files.flatMap((file) => ["-i", file]);
  const maps = files.flatMap((_, at) => ["-map", String(at)]);
  const argv = ["-v", "error", "-xerror", ...inputs, ...maps, "-fps_mode", "vfr", "-f", "null", "-"];
  return run(REFERENCE_FFMPEG, argv, { env }).then(({ stderr }) => stderr, String);
}

/** Frames that a film of a source without a constant rate has at least: where the rate is made constant, some repeat. */
const LEAST_FRAMES: Readonly<Record<string, number>> = { "jitter.mp4": 23 };
const FRAMES = 20;
/** MPEG-TS and ADTS have no tags; those of 3GPP ffmpeg writes and does not read. */
const TAGLESS: readonly TrackContainer[] = ["mpegts", "aac", "3gp"];

/** What is not as it should be, in words; empty when all is well. */
function faults(clip: string, { container, video, audio }: Wanted, { streams, format }: MediaProbe): string[] {
  const picture = streams.find((stream) => stream.codec_type === "video");
  const sound = streams.find((stream) => stream.codec_type === "audio");
  const seconds = Number(format.duration);
  const tags = [format, ...streams].flatMap(({ tags = {} }) => Object.entries(tags));
  const title = tags.find(([name]) => name.toLowerCase() === "title")?.[1];
  const expected = (video ? 1 : 0) + (clip === "silent.mp4" ? 0 : 1);
  return [
    streams.length === expected ? "" : `${streams.length} streams`,
    video && !nameOf(video).test(picture?.codec_name ?? "") ? `picture is ${picture?.codec_name}` : "",
    audio && !nameOf(audio).test(sound?.codec_name ?? "") ? `sound is ${sound?.codec_name}` : "",
    video ? frameFault(clip, picture) : "",
    video ? sizeFault(clip, video, picture) : "",
    Number.isNaN(seconds) || Math.abs(seconds - 0.8) < 0.13 ? "" : `lasts ${seconds} s`,
    sound && clip === "surround.mkv" && audio ? channelFault(container, audio, sound) : "",
    TAGLESS.includes(container) || title === "Film" || clip === "surround.mkv" ? "" : `title is ${title}`,
  ].filter(Boolean);
}

function frameFault(clip: string, picture: ProbedStream | undefined): string {
  const frames = Number(picture?.nb_read_packets);
  const least = LEAST_FRAMES[clip];
  const isRight = least === undefined ? Math.abs(frames - FRAMES) <= 1 : frames >= least && frames <= least + 5;
  return isRight ? "" : `${frames} frames`;
}

const SIZES: Readonly<Record<string, readonly [plain: string, dnxhd: string, h263: string]>> = {
  "rotated.mp4": ["144x256", "480x854", "352x288"],
  "odd.mp4": ["258x146", "480x270", "352x288"],
};

function sizeFault(clip: string, codec: VideoCodec, picture: ProbedStream | undefined): string {
  const [plain, dnxhd, h263] = SIZES[clip] ?? ["256x144", "480x270", "352x288"];
  const size = `${picture?.width}x${picture?.height}`;
  return size === (codec === "dnxhd" ? dnxhd : codec === "h263" ? h263 : plain) ? "" : `picture is ${size}`;
}

const TWO: readonly AudioCodec[] = ["mp2", "mp3", "wmav2"];
/** Of containers that have no more themselves. */
const TWO_IN: readonly string[] = ["flv:pcm-s16le", "flv:pcm-u8", "3gp:aac"];

function channelFault(container: TrackContainer, codec: AudioCodec, { channels }: ProbedStream): string {
  const wanted = codec === "amr-nb" ? 1 : TWO.includes(codec) || TWO_IN.includes(`${container}:${codec}`) ? 2 : 6;
  return channels === wanted ? "" : `${channels} channels`;
}

const ROWS: [string, readonly Wanted[]][] = [
  ["normal.mp4", [...FILMS, ...SOUNDS]],
  ["rotated.mp4", FILMS],
  ["silent.mp4", FILMS],
  ["odd.mp4", FILMS],
  ["jitter.mp4", FILMS],
  ["surround.mkv", [...FILMS, ...SOUNDS]],
  ["sound.m4a", SOUNDS],
];

test.each(ROWS)("%s in every container", { timeout: 300_000 }, async (clip, wanted) => {
  const asks = wanted.map((each): OutputOptions => ({ format: formatOf(each) }));
  const { files, failures: refusals } = await encodeClip(path.join(folder, clip), asks);
  expect(refusals).toEqual([]);
  const made = wanted.map((each, at) => ({ ...each, file: files.get(at)?.[0] ?? "" }));
  const report: string[] = [];
  const queue = made.values();
  const checker = async (): Promise<void> => {
    for (const each of queue) {
      const found = faults(clip, each, await probe(each.file));
      if (found.length > 0) report.push(`${formatOf(each)}: ${found.join(", ")}`);
    }
  };
  await Promise.all([checker(), checker()]);
  for (const [container, group] of Map.groupBy(made, (each) => each.container)) {
    const said = await decodeAll(group.map(({ file }) => file));
    if (said) report.push(`${container}: ${said}`);
  }
  expect(report).toEqual([]);
});

test("a film is refused of sound alone", async () => {
  const { failures: refusals } = await encodeClip(
    path.join(folder, "sound.m4a"),
    FILMS.map((each) => ({ format: formatOf(each) })),
  );
  expect(refusals.map(({ failure }) => failure.code)).toEqual(FILMS.map(() => "input_has_no_video"));
});
