// Captions that are images in the frames of outputs, compared with ffmpeg's own overlay.
import { execFile } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { withBitmaps } from "#shared/job/output-spec.ts";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import { planEncode } from "#shared/plan/tasks/plan-encode.ts";
import { type OutputOptions, specOf } from "#shared/testing/output-specs.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { toolEnvironment } from "../../ffmpeg/sandbox/tool-environment.ts";
import { prepareCaptions } from "../../prepare/prepare-captions.ts";
import { sourceTexts } from "../../prepare/read-texts.ts";
import { look, lossless, type Shown } from "../../testing/jobs/chunked-encodes.ts";
import { processSource } from "../../testing/jobs/process-source.ts";
import { pgsFile } from "../../testing/pgs-file.ts";
import { decode, FFMPEG, probe, probeClip, REFERENCE_FFMPEG, tested } from "../../testing/plan-runs.ts";
import { closeServers } from "../../testing/range-server.ts";
import { secondsWithText } from "../../testing/shown-frames.ts";
import { silentLog } from "../../testing/silent-log.ts";
import { openWorkshop } from "../../testing/source-workshop.ts";
import { NO_TRACE } from "../../tracing/task-trace.ts";
import { CommandLog } from "../../workspace/command-log.ts";
import { taskSource } from "../../workspace/task-source.ts";
import { placeBurnFiles } from "./burn-files.ts";

const run = promisify(execFile);
const CANVAS = { width: 640, height: 360 };
/** The last caption has no end. */
const CAPTIONS = [
  { fromMs: 1000, toMs: 2000, x: 100, y: 300, width: 300, height: 40 },
  { fromMs: 2520, toMs: 3500, x: 200, y: 280, width: 101, height: 60, isForced: true },
  { fromMs: 4000, x: 21, y: 21, width: 200, height: 30 },
];

const folder = fileFolder();
const { signal } = new AbortController();
const deps = { ...tested, allowPrivate: "loopback", signal, fontsFolder: null } as const;
const runDeps = { ...deps, log: silentLog, workFolder: tmpdir(), commands: new CommandLog(), trace: NO_TRACE };
const path = (name: string): string => join(folder, name);

beforeAll(async () => {
  const { make } = openWorkshop(folder);
  await writeFile(path("a.sup"), pgsFile(CANVAS, CAPTIONS));
  const x264 = "-c:v libx264 -preset ultrafast -g 25 -pix_fmt yuv420p";
  const video = (options = "") => `-f lavfi -i testsrc2=s=320x180:r=25:d=6${options}`;
  const maps = "-map 0 -map 1:s";
  // ffmpeg starts the times of `sup` at the first caption.
  const pgs = `-copyts -fix_sub_duration -f sup -i a.sup ${maps} ${x264} -metadata:s:s:0 language=eng`;
  await make("pgs.mkv", `${video()} ${pgs} -c:s copy`);
  await make("dvd.mkv", `${video()} ${pgs} -c:s dvdsub`);
  await make("dvb.mkv", `${video()} -i dvd.mkv ${maps} ${x264} -c:s dvbsub`);
  await make("dvb.ts", `${video()} -i dvd.mkv ${maps} ${x264} -c:s dvbsub`);
  const ntsc = video().replace("r=25", "r=30000/1001");
  await make("pgs.m2ts", `${ntsc} -copyts -f sup -i a.sup ${maps} ${x264} -c:s copy -mpegts_m2ts_mode 1`);
  await make("anamorphic.mkv", `${video(",setsar=2")} -i dvd.mkv ${maps} ${x264} -c:s copy`);
  await make("rotated.mkv", "-display_rotation:v 90 -i pgs.mkv -map 0 -c copy");
  // Two captions, in a canvas with bars of 132 lines.
  const wide = { x: 480, y: 900, width: 500, height: 120 };
  await writeFile(path("wide.sup"), pgsFile({ width: 1920, height: 1080 }, [{ fromMs: 1000, toMs: 2000, ...wide }]));
  const gray = "-f lavfi -i color=gray:r=25";
  await make("wide.mkv", `${gray}:s=320x134:d=3 -copyts -f sup -i wide.sup ${maps} ${x264} -c:s copy`);
  const box = { x: 100, y: 300, width: 300, height: 40 };
  const long = [
    { fromMs: 3000, toMs: 3400, ...box },
    { fromMs: 13000, toMs: 25000, ...box },
  ];
  await writeFile(path("long.sup"), pgsFile(CANVAS, long));
  await make("gray.mkv", `${gray}:s=320x180:d=30 -copyts -f sup -i long.sup ${maps} ${x264} -g 250 -c:s copy`);
  const paused = "-vf select=not(between(t\\,2.5\\,12)) -fps_mode vfr";
  await make("paused.mkv", `${gray}:s=320x180:d=30 -copyts -f sup -i long.sup ${maps} ${paused} ${x264} -c:s copy`);
  await writeFile(path("pq.sup"), pgsFile(CANVAS, [{ fromMs: 0, ...box }]));
  const pq = "-color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc -pix_fmt yuv420p10le";
  const x265 = `-frames:v 30 -c:v libx265 -x265-params log-level=error ${pq} -metadata:s:s:0 language=eng`;
  await make("pq.mkv", `${gray}:s=320x180:d=2 -copyts -f sup -i pq.sup ${maps} ${x265} -c:s copy`);
});
afterAll(async () => {
  closeServers();
});

const burnt = (params: object = {}, format = "mkv::noaudio"): OutputOptions => ({
  format,
  params: { burn: { from: 1 }, ...params },
});

/** The first file of each output, losslessly encoded. */
async function filesOf(
  clip: string,
  requests: readonly OutputOptions[],
  watermarks: ReadonlyMap<string, string> = new Map(),
): Promise<string[]> {
  const work = await mkdtemp(path("work-"));
  const source = path(clip);
  const probed = await probeClip(source);
  const outputs = requests.map(specOf);
  const read = taskSource({ source, probe: probed, folder: work });
  const texts = await sourceTexts(outputs, read, { ...runDeps, speech: null });
  const { burns, failed } = await prepareCaptions({ ...read, outputs, texts }, deps);
  if (failed[0] || !burns) throw new Error(failed[0]?.failure.message);
  const drawn = outputs.map((spec) => withBitmaps(spec, burns.bitmaps.get(spec.index)));
  const request = { source, probe: probed, outputs: drawn, capabilities: ALL_SOFTWARE, watermarks };
  const { commands, failures } = planEncode(request);
  if (failures[0]) throw new Error(failures[0].failure.message);
  const files: string[] = [];
  for (const { runs, outputs } of commands) {
    for (const { argv } of runs) {
      await placeBurnFiles(argv, burns, work);
      await run(FFMPEG, lossless(argv), { cwd: work, env: toolEnvironment(work) });
    }
    for (const {
      output,
      files: [file = ""],
    } of outputs)
      files[output] = join(work, file);
  }
  return files;
}

const shownOf = async (clip: string, requests: readonly OutputOptions[]): Promise<Shown[]> =>
  Promise.all((await filesOf(clip, requests)).map(look));

/** The plain overlay of this ffmpeg. It repeats the last frame for captions that end later. */
async function plain(clip: string, frames: number): Promise<Shown> {
  const filters = [
    "[0:v]scale=320:180:flags=bicubic,format=yuv420p[base]",
    "[0:s:0]format=gbrap,premultiply=inplace=1,scale=320:180:flags=bicubic,unpremultiply=inplace=1," +
      "scale=out_color_matrix=bt601:out_range=tv,format=yuva420p[captions]",
    "[base][captions]overlay=format=yuv420[shown]",
  ];
  const options = `-map [shown] -fps_mode vfr -c:v libx264 -qp 0 -preset ultrafast -frames:v ${frames}`.split(" ");
  const file = `plain-${clip}.mkv`;
  const input = ["-v", "error", "-y", "-canvas_size", "640x360", "-i", clip];
  const argv = [...input, "-filter_complex", filters.join(";"), ...options];
  await run(FFMPEG, [...argv, file], { cwd: folder, env: toolEnvironment(folder) });
  return look(path(file));
}

const shownFrames = ({ frames }: Shown) => frames.map(({ hash, seconds }) => [seconds.toFixed(4), hash]);

it.each(["pgs.mkv", "dvd.mkv", "dvb.mkv", "dvb.ts", "pgs.m2ts"])(
  "draws %s as ffmpeg's own overlay does",
  async (clip) => {
    const [drawn, none] = await shownOf(clip, [burnt(), { format: "mkv::noaudio" }]);
    if (!drawn || !none) throw new Error("No output");
    const unburnt = await plain(clip, none.frames.length);
    expect(shownFrames(drawn)).toEqual(shownFrames(unburnt));
    expect(drawn.frames.map(({ seconds }) => seconds)).toEqual(none.frames.map(({ seconds }) => seconds));
    expect(drawn.frames.filter(({ hash }, at) => hash !== none.frames[at]?.hash).length).toBeGreaterThan(45);
  },
);

it("shows images at the source's time in trimmed outputs, shifted, and at other frame rates", async () => {
  const { outputs } = await processSource(path("gray.mkv"), [
    burnt({ offset: 2.6, duration: 1 }),
    burnt({ offset: 24.6, duration: 1 }),
    burnt({ offset: 24.6, duration: 1 }, "mp4:30fps:noaudio"),
    burnt({ burn: { from: 1, shift: -22 }, duration: 4 }, "mp4::noaudio"),
  ]);
  expect(await Promise.all(outputs.map(secondsWithText))).toEqual([
    [0.4, 0.8],
    [0, 0.4],
    [0, 0.4],
    [0, 3],
  ]);
});

it("draws images while a frame stands", async () => {
  const { outputs } = await processSource(path("paused.mkv"), [burnt({ duration: 5 })]);
  expect(await secondsWithText(outputs[0])).toEqual([3, 3.4]);
});

it("draws into image outputs the captions of their time, by seeking and by decoding", async () => {
  const offsets = [2.95, 3.1, 3.45, 24.9, 25.2, 26];
  const { outputs } = await processSource(path("gray.mkv"), [
    burnt({ offsets }, "png:320x"),
    burnt({ offsets: [3.1], sprite: { columns: 1 } }, "png:320x"),
  ]);
  const [all, sheet] = outputs.map((output) => (output.ok ? output.files : []));
  expect(await Promise.all((all ?? []).map(hasText))).toEqual([false, true, false, true, false, false]);
  expect(await Promise.all((sheet ?? []).map(hasText))).toEqual([true]);
});

/** White box of the first caption: left, top, right and bottom edge. */
const PLACES: readonly (readonly [string, string, string, object, readonly number[]])[] = [
  ["a canvas of the frame's shape", "pgs.mkv", "png", {}, [50, 150, 200, 160]],
  ["an anamorphic source", "anamorphic.mkv", "png", {}, [100, 150, 400, 160]],
  ["a padded output", "pgs.mkv", "png:320x320", {}, [50, 220, 200, 230]],
  ["an output on a backdrop", "pgs.mkv", "png:320x320", { fit: "blur" }, [50, 220, 200, 230]],
  ["a cropped output", "pgs.mkv", "png:180x180", { fit: "crop" }, [28, 163, 113, 169]],
  ["a rotated source", "rotated.mkv", "png", {}, [28, 303, 113, 309]],
  ["a source without the black bars of its canvas", "wide.mkv", "png", {}, [101, 112, 162, 119]],
];
it.each(PLACES)("draws in the right place for %s", async (_, clip, format, params, place) => {
  const { outputs } = await processSource(path(clip), [burnt({ offsets: [1.5], ...params }, format)]);
  const [file = ""] = outputs[0]?.ok ? outputs[0].files : [];
  const { streams } = await probe(file);
  const edges = await whiteBox(file, streams[0]?.width ?? 1);
  const isNear = edges.map((edge, at) => Math.abs(edge - (place[at] ?? 0)) <= 1);
  expect(isNear, String(edges)).toEqual([true, true, true, true]);
});

it("draws under a watermark", async () => {
  await openWorkshop(folder).make("mark.png", "-f lavfi -i color=white:s=400x400 -frames:v 1");
  const params = { offsets: [1.5], watermark: { url: "https://example.com/mark.png", position: "topleft" } };
  const watermarks = new Map([["https://example.com/mark.png", path("mark.png")]]);
  const file = (await filesOf("pgs.mkv", [burnt(params, "png")], watermarks))[0] ?? "";
  expect(await whiteBox(file, 320)).toEqual([4, 4, 199, 160]);
});

it("draws white at 203 cd/m² in HDR, and in all renditions of streams", async () => {
  const { outputs } = await processSource(path("pq.mkv"), [
    burnt({}, "mp4:hevc:noaudio:pix_fmt=yuv420p10le"),
    {
      format: "httpstream",
      params: { hls: { path: "h" }, variants: ["mp4:320x:48k", "mp4:160x:48k"], burn: { from: "en" } },
    },
  ]);
  const [hdr = "", playlist = ""] = outputs.map((output) =>
    output.ok ? (output.files[0] ?? "") : output.failure.message,
  );
  // PQ of 203 cd/m² is 0.581: 64 + 0.581 · 876 in limited range of 10 bits.
  const luma = await decode(hdr, "select=eq(n\\,5),extractplanes=y", "gray10le");
  expect(new Uint16Array(luma.buffer, luma.byteOffset, luma.length / 2).reduce(max)).toBeCloseTo(573, -1);
  for (const rendition of ["0:v:0", "0:v:1"]) {
    const argv = ["-v", "error", "-allowed_extensions", "ALL", "-i", playlist, "-map", rendition, "-frames:v", "1"];
    const { stdout } = await run(REFERENCE_FFMPEG, [...argv, "-f", "rawvideo", "-pix_fmt", "gray", "-"], {
      encoding: "buffer",
    });
    expect([rendition, stdout.reduce(max) > 200]).toEqual([rendition, true]);
  }
});

it("fails for images that cannot be decoded, and notes styles without effect", async () => {
  const bytes = pgsFile(CANVAS, CAPTIONS.slice(0, 2));
  // The size of the first image is larger than the canvas.
  for (let at = bytes.indexOf("PG"); at >= 0; at = bytes.indexOf("PG", at + 1)) {
    if (bytes[at + 10] === 0x15) bytes.writeUInt16BE(0xffff, at + 20);
  }
  await writeFile(path("bad.sup"), bytes);
  const { make } = openWorkshop(folder);
  const copy = "-map 0:v -map 1:s -c copy";
  await make("bad.mkv", `-copyts -i pgs.mkv -f sup -i bad.sup ${copy}`);
  await make("late.mkv", `-copyts -i pgs.mkv -i pgs.mkv ${copy} -t 0.5`);
  const style = { from: 1, size: 10, keep_style: false };
  const bad = await processSource(path("bad.mkv"), [burnt(), { format: "mkv::noaudio" }]);
  expect(bad.outputs).toMatchObject([
    {
      ok: false,
      failure: { code: "subtitle_failed", message: expect.stringMatching(/none of its images can be decoded/) },
    },
    { ok: true },
  ]);
  const empty = await processSource(path("late.mkv"), [burnt({ burn: style })]);
  const note = "The captions are images, so their style has no effect.";
  expect(empty.outputs).toMatchObject([{ ok: true, note: expect.stringContaining(note) }]);
});

/** True if a gray image has white pixels. */
const hasText = async (file: string): Promise<boolean> => (await decode(file, "null", "gray")).reduce(max) > 220;
const max = (a: number, b: number): number => Math.max(a, b);

/** The edges of the white pixels of an image. */
async function whiteBox(file: string, width: number): Promise<number[]> {
  const pixels = await decode(file, "null", "gray");
  const white = [...pixels].flatMap((value, at) => (value > 245 ? [at] : []));
  const columns = white.map((at) => at % width);
  const rows = white.map((at) => Math.floor(at / width));
  return [
    columns.reduce(min, width),
    rows.reduce(min, pixels.length),
    columns.reduce(max, 0) + 1,
    rows.reduce(max, 0) + 1,
  ];
}
const min = (a: number, b: number): number => Math.min(a, b);
