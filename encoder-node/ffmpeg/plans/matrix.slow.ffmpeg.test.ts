// A real ffmpeg writes every container with each of its codecs, from several kinds of sources; all files are decoded.
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { AudioCodec, VideoCodec } from "#shared/format/codecs.ts";
import { TRACK_CONTAINER_TRAITS, TRACK_CONTAINERS, type TrackContainer } from "#shared/format/containers.ts";
import { MediaProbe, type ProbedStream } from "#shared/media/media-probe.ts";
import type { OutputOptions } from "#shared/testing/output-specs.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { encodeClip, FFMPEG, FFPROBE, REFERENCE_FFMPEG } from "../../testing/plan-runs.ts";
import { clipsOfFile } from "../../testing/workshop-of-file.ts";
import { listEncoders } from "../discover/listings.ts";
import { toolEnvironment } from "../sandbox/tool-environment.ts";

const run = promisify(execFile);
const env = toolEnvironment();

const X264 = "-c:v libx264 -preset ultrafast";
const STEREO = "-f lavfi -i aevalsrc=sin(880*t)|sin(990*t):d=0.8:s=44100";
const SURROUND =
  "aevalsrc=0.1*sin(800*t)|0.1*sin(900*t)|0.1*sin(700*t)|0|0.1*sin(600*t)|0.1*sin(500*t):c=5.1(side):d=0.8";
const CLIPS: Readonly<Record<string, string>> = {
  "normal.mp4": `-f lavfi -i testsrc2=s=256x144:r=25:d=0.8 ${STEREO} ${X264} -c:a aac -metadata title=Clip`,
  "rotated.mp4": "-display_rotation 90 -i normal.mp4 -c copy",
  "silent.mp4": "-i normal.mp4 -map 0:v -c copy",
  "audio.m4a": "-i normal.mp4 -map 0:a -c copy",
  "odd.mp4": `-f lavfi -i testsrc2=s=257x145:r=25:d=0.8,format=yuv444p ${STEREO} ${X264} -c:a aac -metadata title=Clip`,
  "jitter.mp4": `-f lavfi -i testsrc2=s=256x144:r=30:d=0.8,settb=1/1000,setpts='floor(N*1000/30+31*random(1))' ${STEREO} -fps_mode passthrough -enc_time_base 1/1000 ${X264} -bf 0 -c:a aac -metadata title=Clip`,
  "surround.mkv": `-f lavfi -i testsrc2=s=256x144:r=25:d=0.8 -f lavfi -i ${SURROUND} ${X264} -c:a ac3 -metadata title=Clip`,
};

const folder = fileFolder();
clipsOfFile(folder, CLIPS);

type Wanted = { container: TrackContainer; video: VideoCodec | null; audio: AudioCodec | null };

/** DNxHR does not support frames below 256×120, such as the rotated frames. */
const formatOf = ({ container, video, audio }: Wanted): string =>
  TRACK_CONTAINER_TRAITS[container].video.length === 0
    ? `${container}:${audio}`
    : [container, video ? `${video === "dnxhd" ? "480x_" : ""}${video}` : "x", audio ?? (video ? "" : "x")].join(":");

const VIDEOS: readonly Wanted[] = TRACK_CONTAINERS.flatMap((container) =>
  TRACK_CONTAINER_TRAITS[container].video.map((video) => ({ container, video, audio: null })),
);
/** Debian's ffmpeg has no encoder for AMR. */
const listed = await listEncoders({ path: FFMPEG, version: "", origin: "env" });
const isThere = (codec: AudioCodec): boolean => codec !== "amr-nb" || listed.has("libopencore_amrnb");
const AUDIOS: readonly Wanted[] = TRACK_CONTAINERS.flatMap((container) =>
  TRACK_CONTAINER_TRAITS[container].audio.filter(isThere).map((audio) => ({ container, video: null, audio })),
);

/** ffprobe's names of codecs. mp4 does not distinguish the layers of MPEG audio. */
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

/** Decodes all files completely and returns the error messages. */
async function decodeAll(files: readonly string[]): Promise<string> {
  const inputs = files.flatMap((file) => ["-i", file]);
  const maps = files.flatMap((_, at) => ["-map", String(at)]);
  const argv = ["-v", "error", "-xerror", ...inputs, ...maps, "-fps_mode", "vfr", "-f", "null", "-"];
  return run(REFERENCE_FFMPEG, argv, { env }).then(({ stderr }) => stderr, String);
}

/** The least number of frames for a source with a variable rate: outputs with a constant rate repeat some. */
const LEAST_FRAMES: Readonly<Record<string, number>> = { "jitter.mp4": 23 };
const FRAMES = 20;
/** MPEG-TS and ADTS have no tags. ffmpeg writes the tags of 3GPP but does not read them. */
const TAGLESS: readonly TrackContainer[] = ["mpegts", "aac", "3gp"];

/** Descriptions of all errors in a file; empty when the file is right. */
function faults(clip: string, { container, video, audio }: Wanted, { streams, format }: MediaProbe): string[] {
  const videoStream = streams.find((stream) => stream.codec_type === "video");
  const audioStream = streams.find((stream) => stream.codec_type === "audio");
  const seconds = Number(format.duration);
  const tags = [format, ...streams].flatMap(({ tags = {} }) => Object.entries(tags));
  const title = tags.find(([name]) => name.toLowerCase() === "title")?.[1];
  const expected = (video ? 1 : 0) + (clip === "silent.mp4" ? 0 : 1);
  return [
    streams.length === expected ? "" : `${streams.length} streams`,
    video && !nameOf(video).test(videoStream?.codec_name ?? "") ? `video is ${videoStream?.codec_name}` : "",
    audio && !nameOf(audio).test(audioStream?.codec_name ?? "") ? `audio is ${audioStream?.codec_name}` : "",
    video ? frameFault(clip, videoStream) : "",
    video ? sizeFault(clip, video, videoStream) : "",
    Number.isNaN(seconds) || Math.abs(seconds - 0.8) < 0.13 ? "" : `lasts ${seconds} s`,
    audioStream && clip === "surround.mkv" && audio ? channelFault(container, audio, audioStream) : "",
    TAGLESS.includes(container) || title === "Clip" || clip === "surround.mkv" ? "" : `title is ${title}`,
  ].filter(Boolean);
}

function frameFault(clip: string, video: ProbedStream | undefined): string {
  const frames = Number(video?.nb_read_packets);
  const least = LEAST_FRAMES[clip];
  const isRight = least === undefined ? Math.abs(frames - FRAMES) <= 1 : frames >= least && frames <= least + 5;
  return isRight ? "" : `${frames} frames`;
}

const SIZES: Readonly<Record<string, readonly [plain: string, dnxhd: string, h263: string]>> = {
  "rotated.mp4": ["144x256", "480x854", "352x288"],
  "odd.mp4": ["258x146", "480x270", "352x288"],
};

function sizeFault(clip: string, codec: VideoCodec, video: ProbedStream | undefined): string {
  const [plain, dnxhd, h263] = SIZES[clip] ?? ["256x144", "480x270", "352x288"];
  const size = `${video?.width}x${video?.height}`;
  return size === (codec === "dnxhd" ? dnxhd : codec === "h263" ? h263 : plain) ? "" : `video is ${size}`;
}

const TWO: readonly AudioCodec[] = ["mp2", "mp3", "wmav2"];
/** In containers that support no more channels. */
const TWO_IN: readonly string[] = ["flv:pcm-s16le", "flv:pcm-u8", "3gp:aac"];

function channelFault(container: TrackContainer, codec: AudioCodec, { channels }: ProbedStream): string {
  const wanted = codec === "amr-nb" ? 1 : TWO.includes(codec) || TWO_IN.includes(`${container}:${codec}`) ? 2 : 6;
  return channels === wanted ? "" : `${channels} channels`;
}

/** `npm run test:soak` tries every clip with all codecs; otherwise only the first clip is. */
const IS_COMPLETE = process.env.COPRA_SOAK === "1";

/** Selects a codec for each container; `turn` makes the choice differ between clips. */
const onePerContainer = (wanted: readonly Wanted[], turn: number): Wanted[] =>
  [...Map.groupBy(wanted, ({ container }) => container).values()].flatMap((codecs) =>
    codecs.filter((_, at) => IS_COMPLETE || at === turn % codecs.length),
  );

const ROWS: [string, readonly Wanted[]][] = [
  ["normal.mp4", [...VIDEOS, ...AUDIOS]],
  ["rotated.mp4", onePerContainer(VIDEOS, 0)],
  ["silent.mp4", onePerContainer(VIDEOS, 1)],
  ["odd.mp4", onePerContainer(VIDEOS, 2)],
  ["jitter.mp4", onePerContainer(VIDEOS, 3)],
  ["surround.mkv", [...onePerContainer(VIDEOS, 4), ...AUDIOS]],
  ["audio.m4a", onePerContainer(AUDIOS, 1)],
];

test.each(ROWS)("encodes %s in every container", async (clip, wanted) => {
  const requests = wanted.map((each): OutputOptions => ({ format: formatOf(each) }));
  const { files, failures } = await encodeClip(path.join(folder, clip), requests);
  expect(failures).toEqual([]);
  const outputs = wanted.map((each, at) => ({ ...each, file: files.get(at)?.[0] ?? "" }));
  const report: string[] = [];
  const queue = outputs.values();
  const checker = async (): Promise<void> => {
    for (const each of queue) {
      const problems = faults(clip, each, await probe(each.file));
      if (problems.length > 0) report.push(`${formatOf(each)}: ${problems.join(", ")}`);
    }
  };
  await Promise.all([checker(), checker()]);
  for (const [container, group] of Map.groupBy(outputs, (each) => each.container)) {
    const errors = await decodeAll(group.map(({ file }) => file));
    if (errors) report.push(`${container}: ${errors}`);
  }
  expect(report).toEqual([]);
});

test("a video output of an audio source fails", async () => {
  const { failures } = await encodeClip(
    path.join(folder, "audio.m4a"),
    VIDEOS.map((each) => ({ format: formatOf(each) })),
  );
  expect(failures.map(({ failure }) => failure.code)).toEqual(VIDEOS.map(() => "input_has_no_video"));
});
