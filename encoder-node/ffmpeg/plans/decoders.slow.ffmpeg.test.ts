// Tests the list of decoders with this machine's programs: listed codecs are decoded, all others are rejected.
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it, test } from "vitest";
import { ALLOWED_DECODERS } from "#shared/media/decoders.ts";
import { openingArguments } from "#shared/plan/command/opening-arguments.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { inputArguments } from "../../source/frame-index/run-packet-listing.ts";
import { probeFile } from "../../source/probe/probe.ts";
import { runFfprobe } from "../../source/probe/run-ffprobe.ts";
import { REFERENCE_FFMPEG } from "../../testing/plan-runs.ts";
import { locateFfmpeg } from "../discover/locate.ts";
import { runCommand } from "../run-command.ts";
import { toolEnvironment } from "../sandbox/tool-environment.ts";

const { ffmpeg, ffprobe } = await locateFfmpeg(process.env);
const options = { env: toolEnvironment() };
const folder = fileFolder();

const VIDEO = "-f lavfi -i testsrc2=s=352x288:r=25:d=0.08";
const AUDIO = "-f lavfi -i sine=d=0.3:r=48000 -ac 2";
const NARROW = "-f lavfi -i sine=d=0.3:r=8000 -ac 1";

const PIXELS: Readonly<Record<string, string>> = {
  libx264: "-preset ultrafast",
  libx265: "-preset ultrafast -x265-params log-level=error",
  "libaom-av1": "-cpu-used 8 -frames:v 1",
  prores: "-pix_fmt yuv422p10le",
  dvvideo: "-pix_fmt yuv420p -s 720x576",
  mjpeg: "-pix_fmt yuvj420p",
  v210: "-pix_fmt yuv422p10le",
};

/** Codecs that ffmpeg can encode: ffmpeg's arguments by file name. */
const SOURCES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries({
      mkv: "libx264 libx265 libvpx-vp9 libaom-av1 mpeg1video mpeg2video mpeg4 libtheora ffv1 ffvhuff huffyuv utvideo mjpeg",
      avi: "msmpeg4v2 msmpeg4 wmv1 wmv2 rawvideo",
      mov: "prores dvvideo qtrle svq1 v210 png tiff",
      flv: "flv flashsv",
      "3gp": "h263",
    }).flatMap(([name, codecs]) =>
      codecs.split(" ").map((codec) => [`${codec}.${name}`, `${VIDEO} -c:v ${codec} ${PIXELS[codec] ?? ""}`]),
    ),
  ),
  ...Object.fromEntries(
    "aac libmp3lame mp2 libopus libvorbis flac alac ac3 eac3 dca truehd mlp tta wavpack wmav2 pcm_s24le pcm_f32le"
      .split(" ")
      .map((codec) => [`${codec}.mkv`, `${AUDIO} -c:a ${codec} -strict -2`]),
  ),
  "s302m.ts": `${AUDIO} -c:a s302m -strict -2`,
  "nellymoser.flv": `${NARROW} -c:a nellymoser`,
  "amr.3gp": `${NARROW} -c:a libopencore_amrnb`,
  ...Object.fromEntries(
    "adpcm_ms adpcm_ima_wav adpcm_yamaha pcm_alaw pcm_mulaw"
      .split(" ")
      .map((codec) => [`${codec}.wav`, `${NARROW} -c:a ${codec}`]),
  ),
  "still.gif": `${VIDEO} -frames:v 1`,
  "still.webp": `${VIDEO} -frames:v 1`,
  "still.bmp": `${VIDEO} -frames:v 1`,
  "moving.apng": `${VIDEO} -plays 0`,
};

async function make(name: string, argv: string): Promise<string> {
  await promisify(execFile)(REFERENCE_FFMPEG, ["-v", "error", "-y", ...argv.trim().split(/ +/), name], {
    ...options,
    cwd: folder,
  });
  return join(folder, name);
}

it.each(Object.entries(SOURCES))("decodes %s", async (name, argv) => {
  const path = await make(name, argv);
  const { streams } = await probeFile(ffprobe, path);
  expect(streams).toHaveLength(1);
  const decoding = [...openingArguments([{ path }]), "-f", "null", "-"];
  expect(await promisify(execFile)(ffmpeg.path, decoding, options)).toMatchObject({ stderr: "" });
});

it("rejects a source whose codec is not listed, and names the codec", async () => {
  const path = await make("magicyuv.avi", `${VIDEO} -c:v magicyuv`);
  const failure = { code: "input_codec_not_supported", message: expect.stringContaining("codec magicyuv, which") };
  await expect(probeFile(ffprobe, path)).rejects.toMatchObject(failure);
  const argv = [...openingArguments([{ path }]), "-f", "null", "-"];
  const ran = await runCommand({ path: ffmpeg.path, argv, cwd: folder, stallMs: 20_000 });
  expect(ran).toMatchObject({ ok: false, stderrTail: expect.stringContaining("Codec (magicyuv) not on whitelist") });
});

it("probes a source with subtitles, whose decoders ffprobe also opens", async () => {
  await writeFile(join(folder, "text.srt"), "1\n00:00:00,000 --> 00:00:01,000\nHello\n");
  const codecs = ["ass", "subrip", "webvtt"].map((codec, at) => `-map 1 -c:s:${at} ${codec}`);
  const path = await make("text.mkv", `${VIDEO} -i text.srt -map 0 ${codecs.join(" ")} -c:v libx264`);
  expect((await probeFile(ffprobe, path)).streams).toHaveLength(4);
  const mp4 = await make("text.mp4", `${VIDEO} -i text.srt -map 0 -map 1 -c:s mov_text -c:v libx264`);
  expect((await probeFile(ffprobe, mp4)).streams).toHaveLength(2);
});

test("lists only decoders of this ffmpeg, except for libraries that are not built in", async () => {
  const { stdout } = await promisify(execFile)(ffmpeg.path, ["-hide_banner", "-decoders"], options);
  const known = new Set([...stdout.matchAll(/^ [VAS]\S{5} (\S+)/gm)].map(([, name]) => name));
  const unknown = ALLOWED_DECODERS.split(",").filter((name) => !known.has(name) && !name.startsWith("lib"));
  expect(unknown).toEqual([]);
});

test("always passes all three lists to ffprobe", async () => {
  const echo = { path: "/bin/echo", version: "", origin: "env" } as const;
  const commands = [
    (await runFfprobe({ ffprobe: echo, path: "/source", options: ["-show_streams"] })).stdout.split(" "),
    inputArguments({ path: "/source" }),
    inputArguments({ url: "http://127.0.0.1:1/a", network: { enter: null }, failed: new AbortController().signal }),
  ];
  const lists = ["-protocol_whitelist", "-format_whitelist", "-codec_whitelist"];
  for (const argv of commands) expect(argv).toEqual(expect.arrayContaining(lists));
});
