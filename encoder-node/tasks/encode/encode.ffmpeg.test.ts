// The task `encode` with ffmpeg, a storage on loopback, and difficult sources.
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import type { Failure } from "#shared/errors.ts";
import { OPTIONAL_FILTERS } from "#shared/plan/command/capabilities.ts";
import type { Hardware } from "#shared/protocol/capabilities.ts";
import type { OutputReport } from "#shared/protocol/reports.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import type { FileName, UploadsRequest } from "#shared/protocol/uploads.ts";
import { type OutputOptions, specOf } from "#shared/testing/output-specs.ts";
import { fileFolder, startServer, untilEnd } from "../../../test/fixtures.ts";
import { runCommand } from "../../ffmpeg/run-command.ts";
import { probeFile } from "../../source/probe/probe.ts";
import { few, SLOW } from "../../testing/few.ts";
import { sourceAt, startTestNode, tools } from "../../testing/task-deps.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";
import { encode } from "./encode.ts";

const X264 = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p";
const VIDEO = "-f lavfi -i testsrc2=s=320x180:r=25:d=4";
const AUDIO = "-f lavfi -i sine=d=4";
/** Quiet at first, so that the first bitrate differs from the rest. */
const SWELL = "-f lavfi -i anoisesrc=d=20:a=0.8,volume=volume=if(lt(t\\,15)\\,0.0005\\,1):eval=frame";
const CLIPS: Readonly<Record<string, string>> = {
  "clip.mp4": `${VIDEO} ${AUDIO} ${X264} -c:a aac -movflags +faststart`,
  "clip.mkv": "-i clip.mp4 -c copy",
  "late-audio.mp4": `${VIDEO} -itsoffset 3 ${AUDIO} -map 0 -map 1 ${X264} -c:a aac`,
  "late-video.mp4": `-itsoffset 3 ${VIDEO} ${AUDIO} -map 0 -map 1 -fps_mode vfr ${X264} -c:a aac`,
  "swell.aac": `${SWELL} -c:a aac -b:a 128k`,
  "gap.mkv": `-f lavfi -i testsrc2=s=320x180:d=10:r=25 -vf select=lt(n\\,100)+eq(n\\,249) -fps_mode passthrough ${X264}`,
  "long.mp4": `-f lavfi -i testsrc2=s=64x36:r=5:d=100 ${X264} -g 25 -qp 20 -movflags +faststart`,
  "long.mkv": "-i long.mp4 -c copy",
  "short-video.mp4": `-f lavfi -i testsrc2=s=64x36:r=5:d=3.8 -f lavfi -i sine=d=4 ${X264} -c:a aac`,
  "uneven.mkv": `${VIDEO} -f lavfi -i sine=d=9 ${X264} -c:a aac`,
};

const folder = fileFolder();
/** Files of all requests for uploads. */
const requested: FileName[] = [];
const storage = untilEnd(await startServer((request, response) => request.resume().on("end", () => response.end())));
const node = untilEnd(startTestNode(folder));
beforeAll(async () => {
  for (const [name, options] of Object.entries(CLIPS)) {
    const argv = ["-v", "error", "-nostdin", ...options.split(" "), name];
    expect([name, await runCommand({ path: tools.ffmpeg.path, argv, cwd: folder, stallMs: 20_000 })]).toEqual([
      name,
      { ok: true },
    ]);
  }
  const clip = await readFile(join(folder, "clip.mp4"));
  await writeFile(join(folder, "truncated.mp4"), clip.subarray(0, clip.length / 2));
  const long = await readFile(join(folder, "long.mp4"));
  await writeFile(join(folder, "long-truncated.mp4"), long.subarray(0, long.length * 0.6));
  const matroska = await readFile(join(folder, "long.mkv"));
  await writeFile(join(folder, "long-truncated.mkv"), matroska.subarray(0, matroska.length * 0.6));
  await rewrite("uneven.mkv", "no-durations.mkv", /DURATION/g, "DURATIOX");
  await rewrite("clip.mkv", "understated.mkv", /00:00:0[34]/g, "00:00:01");
});

async function rewrite(from: string, to: string, what: RegExp, by: string): Promise<void> {
  const text = await readFile(join(folder, from), "latin1");
  const written = text.replaceAll(what, by);
  expect(written !== text).toBe(true);
  await writeFile(join(folder, to), written, "latin1");
}

type Terms = { durationMs?: number | null; ffmpeg?: string; hardware?: Hardware | null };

/** The codecs of each output, or its failure. */
async function outcomes(
  source: string,
  requests: readonly (string | OutputOptions)[],
  terms: Terms = {},
): Promise<(string | Failure)[]> {
  return (await reports(source, requests, terms)).map((report) =>
    report.status === "failed"
      ? report.failure
      : (report.probe?.streams.map((stream) => stream.codec_name).join() ?? "nothing"),
  );
}

async function reports(
  source: string,
  requests: readonly (string | OutputOptions)[],
  { durationMs = null, ffmpeg = tools.ffmpeg.path, hardware = null }: Terms = {},
): Promise<OutputReport[]> {
  const path = join(folder, source);
  const outputs = requests.map((request, index) =>
    specOf(typeof request === "string" ? { format: request, durationMs } : request, index),
  );
  const task: TaskOf<"encode"> = {
    kind: "encode",
    sourceUrl: "http://127.0.0.1/",
    probe: await probeFile(tools.ffprobe, path),
    outputs,
  };
  const result = await encode(task, depsOf(task, path, ffmpeg, hardware));
  if (result.kind !== "encode") throw new Error("Not the result of an encode");
  return result.outputs.toSorted((a, b) => a.output - b.output);
}

function depsOf(task: TaskOf<"encode">, path: string, ffmpeg: string, hardware: Hardware | null): TaskDeps {
  const ticket = ({ output, file, sizeBytes }: UploadsRequest["files"][number]) => ({
    output,
    file,
    parts: [{ url: `${storage.origin}/bucket/file`, headers: {}, offset: 0, sizeBytes }],
  });
  return node.depsOf("AAAAAAAAAAAAAA.encode.1", task, {
    ffmpeg: { ...tools.ffmpeg, path: ffmpeg },
    capabilities: {
      ffmpegVersion: "7",
      encoders: ["libx264", "aac", "mjpeg", "libwebp_anim"],
      cpus: 1,
      filters: [...OPTIONAL_FILTERS],
      muxers: [],
      hardware,
    },
    sources: sourceAt(path),
    requestUploads: async (files) => {
      requested.push(...files.map(({ file }) => file));
      return { uploads: files.map(ticket) };
    },
  });
}

it("probes the first file of images, even of an animation whose size ffprobe does not know", async () => {
  const images: OutputOptions = { format: "jpg", params: { offsets: [3, 1], path: "%d.jpg", vtt: true } };
  const animation: OutputOptions = { format: "webp_anim:64x36", params: { scene: { duration: 0.2 } } };
  const [still, moving] = await reports("clip.mp4", [images, animation]);
  expect(still).toMatchObject({
    status: "made",
    files: [{ file: 1 }, { file: 2 }, { file: 3 }],
    probe: {
      streams: [{ codec_name: "mjpeg", codec_type: "video", width: 320, height: 180 }],
      format: { format_name: "jpeg_pipe", filename: "0-00002.jpg" },
    },
  });
  expect(moving).toMatchObject({ status: "made", probe: { streams: [{ codec_name: "webp" }] } });
});

it("fails only the outputs whose watermark cannot be fetched", async () => {
  const watermark = { url: `${storage.origin}/logo.png` };
  const result = await outcomes("clip.mp4", [{ format: "mp4:64x", params: { watermark } }, "mp4:64x"]);
  expect(result).toEqual([
    { code: "watermark_failed", message: expect.stringContaining("not a readable image") },
    "h264,aac",
  ]);
});

it("fails only the output that makes ffmpeg fail, and starts every run in an empty folder", async () => {
  const picky = join(folder, "picky-ffmpeg");
  const script = `#!/bin/sh
[ -z "$(ls -A)" ] || exit 7
"${tools.ffmpeg.path}" "$@" || exit
case "$*" in *" 1.mp4"*) echo "Cannot make 1.mp4" >&2; exit 1;; esac
`;
  await writeFile(picky, script);
  await chmod(picky, 0o755);
  const formats = ["mp4:100x", "mp4:120x", "mp4:140x"];
  expect(await outcomes("clip.mp4", formats, { ffmpeg: picky })).toEqual([
    "h264,aac",
    { code: "encoding_failed", message: "The encode failed: Cannot make 1.mp4." },
    "h264,aac",
  ]);
});

const STREAM: OutputOptions = {
  format: "httpstream",
  params: { hls: { path: "a" }, dash: { path: "b" }, variants: ["mp4:96x54", "mp4:x"] },
};

it("makes streams and files with a single decode", async () => {
  requested.length = 0;
  const folder = "AAAAAAAAAAAAAA_encode_1";
  expect(await reports("clip.mp4", [STREAM, "mp4:240p"])).toMatchObject([
    {
      status: "made",
      files: [{ file: "hls/master.m3u8" }, { file: "dash/master.mpd" }],
      probe: null,
      encoder: "libx264",
    },
    { status: "made", files: [{ file: 1 }] },
  ]);
  expect(requested).toEqual(expect.arrayContaining([`hls/${folder}/54p/00001.ts`, `dash/${folder}/54p/init.mp4`]));
});

it("encodes a stream again, in another folder, when the command that made it failed", SLOW, async () => {
  requested.length = 0;
  const picky = join(folder, "stream-picky-ffmpeg");
  const script = `#!/bin/sh
"${tools.ffmpeg.path}" "$@" || exit
case "$*" in *" 1.mp4"*) echo "Cannot make 1.mp4" >&2; sleep 1; exit 1;; esac
`;
  await writeFile(picky, script, { mode: 0o755 });
  expect(await reports("clip.mp4", [STREAM, "mp4:240p"], { ffmpeg: picky })).toMatchObject([
    { status: "made" },
    { status: "failed", failure: { code: "encoding_failed" } },
  ]);
  expect(requested).toContain("hls/AAAAAAAAAAAAAA_encode_1-2/54p.m3u8");
  expect(requested).not.toContain("hls/AAAAAAAAAAAAAA_encode_1/54p.m3u8");
});

it("fails only the stream whose subtitles cannot be fetched", SLOW, async () => {
  const subtitles = [{ url: `${storage.origin}/a.vtt`, language: "en", name: "English" }];
  const unreadable: OutputOptions = { ...STREAM, params: { ...STREAM.params, subtitles } };
  const [noText, other] = await outcomes("clip.mp4", [unreadable, "mp4:240p"]);
  expect(noText).toEqual({
    code: "subtitle_failed",
    message: `The subtitles \`English\` from the host \`127.0.0.1:${storage.port}\` cannot be used: it is neither SubRip, WebVTT, ASS, TTML nor SCC.`,
  });
  expect(other).toBe("h264,aac");
});

const NVENC: Hardware = { name: "nvenc", path: null, encoders: ["h264_nvenc"] };
/** Imitations of an ffmpeg without a GPU, or without a free session, that is started for hardware encoding. */
const GPUS: Readonly<Record<string, [shell: string, why: string]>> = {
  broken: ["echo '[h264_nvenc @ 0x5] No capable devices found' >&2; exit 187", "failed"],
  taken: ["echo '[h264_nvenc @ 0x5] OpenEncodeSessionEx failed: out of memory (10)' >&2; exit 244", "was busy"],
};
few(1).each(Object.entries(GPUS))("encodes in software when a GPU is %s, and adds a note", async (name, gpu) => {
  const [shell, why] = gpu;
  const ffmpeg = join(folder, `${name}-gpu-ffmpeg`);
  const script = `#!/bin/sh\ncase "$*" in *_nvenc*) ${shell};; *) exec "${tools.ffmpeg.path}" "$@";; esac\n`;
  await writeFile(ffmpeg, script, { mode: 0o755 });
  const formats = ["mp4:240p", "mp4:240p:x:level=30", "mp4:x"];
  const outputs = await reports("clip.mp4", formats, { ffmpeg, hardware: NVENC });
  const note = `Encoded in software, because the hardware encoder h264_nvenc ${why}.`;
  expect(outputs).toMatchObject([
    { status: "made", encoder: "libx264", note },
    { status: "made", encoder: "libx264" },
    { status: "made", encoder: "aac" },
  ]);
  expect(outputs.filter((report) => "note" in report)).toHaveLength(1);
});

it("tries a GPU once, also when the command fails in software and its outputs are encoded individually", async () => {
  const ffmpeg = join(folder, "once-gpu-ffmpeg");
  // A second try of the GPU would find it busy.
  const cases = `*0.mp4*1.mp4*) exit 1;; *_nvenc*) ${GPUS.taken?.[0]};; *) exec "${tools.ffmpeg.path}" "$@";;`;
  await writeFile(ffmpeg, `#!/bin/sh\ncase "$*" in ${cases} esac\n`, { mode: 0o755 });
  const note = "Encoded in software, because the hardware encoder h264_nvenc failed.";
  const inSoftware = { status: "made", encoder: "libx264", note };
  const outputs = await reports("clip.mp4", ["mp4:240p", "mp4:320x"], { ffmpeg, hardware: NVENC });
  expect(outputs).toMatchObject([inSoftware, inSoftware]);
});

it("encodes in software when the result of a GPU is unusable", async () => {
  const ffmpeg = join(folder, "faulty-gpu-ffmpeg");
  const script = `#!/bin/sh\ncase "$*" in *_nvenc*) echo nothing > 0.mp4;; *) exec "${tools.ffmpeg.path}" "$@";; esac\n`;
  await writeFile(ffmpeg, script, { mode: 0o755 });
  expect(await reports("clip.mp4", ["mp4:240p"], { ffmpeg, hardware: NVENC })).toMatchObject([
    { status: "made", encoder: "libx264", note: expect.stringContaining("h264_nvenc failed") },
  ]);
});

it("names the encoder that the node lacks", async () => {
  const message = "The ffmpeg build of the encoder node has no encoder for `vp9` that works.";
  expect(await outcomes("clip.mp4", ["webm:vp9", "mp4:240p"])).toEqual([
    { code: "encoder_not_available", message },
    "h264,aac",
  ]);
});

few(1).each([
  ["late-audio.mp4", "mp4:x", "aac"],
  ["late-video.mp4", "mp4:240p:x", "h264"],
  ["swell.aac", "mp4:x", "aac"],
  ["gap.mkv", "mp4:240p", "h264"],
  ["no-durations.mkv", "mp4:240p:x", "h264"],
  ["understated.mkv", "mp4:240p", "h264,aac"],
])("accepts the result of %s as %s", async (source, format, tracks) => {
  expect(await outcomes(source, [format])).toEqual([tracks]);
});

it("leaves out audio that starts after the trim, and fails for video that does", async () => {
  expect(await outcomes("late-audio.mp4", ["mp4:240p"], { durationMs: 2000 })).toEqual(["h264"]);
  const message =
    "The result has no video; the video of the source may be damaged, or start after the end of the output";
  expect(await outcomes("late-video.mp4", ["mp4:240p"], { durationMs: 2000 })).toEqual([
    { code: "encoding_failed", message },
  ]);
});

it("fails a result that is too short", async () => {
  const [failure] = await outcomes("truncated.mp4", ["mp4:240p"]);
  expect(failure).toMatchObject({
    code: "encoding_failed",
    message: expect.stringMatching(/^The \w+ of the result ends at \d\.\d\d s instead of 4\.\d\d s/),
  });
});

const imagesTo = (last: number): OutputOptions => ({ format: "jpg", params: { path: "%d.jpg", offsets: [1, last] } });
few(1).each<[string, OutputOptions[], "made" | RegExp]>([
  ["long.mp4", [imagesTo(99.9)], "made"],
  ["short-video.mp4", [imagesTo(3.8), { format: "jpg", number: 9 }], "made"],
  // By seeking, and by decoding everything.
  ["long-truncated.mp4", [imagesTo(95)], /(video ends before 95\.00 s|fewer files)/],
  ["long-truncated.mkv", [imagesTo(95)], /video ends before 95\.00 s/],
  ["long-truncated.mp4", [{ format: "jpg", number: 30 }], /video ends before 98\.33 s/],
  ["long-truncated.mp4", [imagesTo(30)], "made"],
])("makes images of %s only where it has video: %j", async (source, requests, expected) => {
  for (const outcome of await outcomes(source, requests)) {
    if (expected === "made") expect(outcome).toBe("mjpeg");
    else expect(outcome).toMatchObject({ code: "encoding_failed", message: expect.stringMatching(expected) });
  }
});

it("does not blame the input for an unreadable result", async () => {
  const broken = join(folder, "broken-ffmpeg");
  await writeFile(broken, "#!/bin/sh\nfor last; do :; done\necho not a video > $last\n");
  await chmod(broken, 0o755);
  expect(await outcomes("clip.mp4", ["mp4:240p"], { ffmpeg: broken })).toEqual([
    { code: "encoding_failed", message: expect.stringContaining("The result is not a readable file") },
  ]);
});
