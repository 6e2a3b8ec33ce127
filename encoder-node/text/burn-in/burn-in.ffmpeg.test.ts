// Captions in the frames of outputs, compared with ffmpeg's own, and in chunks.
import { execFile } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OutputOptions, specOf } from "#shared/testing/output-specs.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { toolEnvironment } from "../../ffmpeg/sandbox/tool-environment.ts";
import { prepareCaptions } from "../../prepare/prepare-captions.ts";
import { look, lossless, makeBoth, type Shown } from "../../testing/jobs/chunked-encodes.ts";
import { type ProcessedOutput, processSource } from "../../testing/jobs/process-source.ts";
import { subRip } from "../../testing/jobs/subtitle-jobs.ts";
import { decode, FFMPEG, REFERENCE_FFMPEG } from "../../testing/plan-runs.ts";
import { closeServers, serve } from "../../testing/range-server.ts";
import { CAPTIONED_FRAME, secondsWithText } from "../../testing/shown-frames.ts";
import { openWorkshop } from "../../testing/source-workshop.ts";
import { type Burns, placeBurnFiles } from "./burn-files.ts";

const run = promisify(execFile);
const HEAD = `[Script Info]
ScriptType: v4.00+
PlayResX: 640
PlayResY: 360
ScaledBorderAndShadow: yes
YCbCr Matrix: None

[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding
Style: Default,Noto Sans,40,&H00FFFFFF,&H000000FF,&H00000000,&H80000000,0,0,0,0,100,100,0,0,1,2,1,2,20,20,20,1
Style: Top,Noto Sans,30,&H0000FFFF,&H000000FF,&H00000000,&H80000000,-1,-1,0,0,100,100,2,0,1,1,0,8,20,20,20,1

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
`;
/** Karaoke, fades, movements and changes across the split points at 2 and 4 s; nothing is stacked. */
const STYLED = `${HEAD}Dialogue: 0,0:00:00.50,0:00:05.50,Default,,0,0,0,,{\\k100}Ka{\\kf150}ra{\\ko120}o{\\K80}ke
Dialogue: 1,0:00:01.00,0:00:05.00,Top,,0,0,0,,{\\fad(900,1500)}Fading مرحبا {\\c&H3322FF&}red{\\r} Жук
Dialogue: 2,0:00:01.20,0:00:05.20,Top,,0,0,0,,{\\move(20,100,600,300,300,3500)\\t(500,3000,1.5,\\frz180\\fscx150)}Moving
Dialogue: 3,0:00:01.50,0:00:04.60,Default,,0,0,0,,{\\an5\\pos(320,180)\\fade(255,0,120,0,700,2000,3100)\\blur2\\bord3}Placed
Dialogue: 4,0:00:01.90,0:00:02.20,Default,,0,0,0,,{\\p1\\pos(100,100)}m 0 0 l 80 0 80 40 0 40{\\p0}
`;
/** libass would keep the places of stacked events while they are shown. */
const STACKED = `${HEAD}Dialogue: 0,0:00:00.50,0:00:02.60,Default,,0,0,0,,{\\k50}One {\\k100}first
Dialogue: 0,0:00:01.00,0:00:04.50,Default,,0,0,0,,{\\fad(500,2000)}Two {\\t(\\fscx60)}second
Dialogue: 0,0:00:02.40,0:00:05.50,Default,,0,0,0,,{\\kf120}Three {\\kf150}third
Dialogue: 0,0:00:03.90,0:00:05.00,Default,,0,0,0,,Four
`;
const VTT = `WEBVTT

00:00.700 --> 00:02.300
Über <i>zwei</i> <c.yellow>Sekunden</c>

00:01.500 --> 00:04.200 line:10% align:left position:20%
Overlaps & stays

00:03.900 --> 00:05.300
مرحبا بالعالم
`;
const SRT =
  '1\r\n00:00:00,700 --> 00:00:02,300\r\n<b>One</b>\r\n\r\n2\r\n00:00:01,900 --> 00:00:04,100\r\n<font color="#ff8800">Two</font>\r\nlines\r\n';
/** A private character, which no font has, and characters of the packaged fonts. */
const SCRIPTS = "\uE000AßΩЖạकعپ";
const FILES: Readonly<Record<string, string>> = {
  "/styled.ass": STYLED,
  "/stacked.ass": STACKED,
  "/a.vtt": VTT,
  "/a.srt": SRT,
  "/times.vtt": "WEBVTT\n\n00:03.000 --> 00:03.400\nMMMMM\n\n00:25.000 --> 00:25.400\nMMMMM\n",
  "/block.ass": `${HEAD}Dialogue: 0,0:00:00.00,0:00:09.00,Default,,0,0,0,,{\\p1\\bord0\\shad0\\pos(100,100)}m 0 0 l 200 0 200 200 0 200\n`,
  "/a.scc": "Scenarist_SCC V1.0\n\n00:00:01;00\t9420 9420 9470 9470 c849 942f 942f\n",
  "/scripts.vtt": `WEBVTT\n\n${[...SCRIPTS].map((character, at) => `00:${String(at).padStart(2, "0")}.000 --> 00:${String(at).padStart(2, "0")}.900\n${character}`).join("\n\n")}\n`,
  "/japanese.vtt": "WEBVTT\n\n00:00.000 --> 00:01.000\nAß 日本語のテスト ♪\n",
  "/slides.srt": subRip([
    [2000, 4000, "TWO TO FOUR"],
    [5000, 7000, "FIVE TO SEVEN"],
    [12_000, 14_000, "TWELVE"],
  ]),
  "/pause.srt": subRip([[3100, 3500, "In the pause"]]),
  "/page": "<html></html>",
};

const folder = fileFolder();
let origin = "";
const deps = { allowPrivate: "loopback", signal: new AbortController().signal, fontsFolder: null } as const;
const clips = new Map<string, string>();
beforeAll(async () => {
  ({ origin } = await serve((request, response) => {
    const text = FILES[request.url ?? ""];
    response.writeHead(text === undefined ? 404 : 200).end(text);
  }));
  const { make } = openWorkshop(folder);
  const x264 = "-c:v libx264 -preset ultrafast -g 25 -pix_fmt yuv420p";
  const video = (rate: string) => `-f lavfi -i testsrc2=s=320x180:r=${rate}:d=6,format=yuv420p ${x264} -bf 2`;
  clips.set("25.mp4", await make("25.mp4", video("25")));
  clips.set("ntsc.mkv", await make("ntsc.mkv", video("30000/1001")));
  clips.set("ts.ts", await make("ts.ts", `${video("25")} -bf 0`));
  const gray = "-f lavfi -i color=0x808080:s=320x180:r=25:d=6";
  const long = gray.replace("r=25:d=6", "r=5:d=30");
  clips.set("gray.mp4", await make("gray.mp4", `${long} -c:v libx264 -preset ultrafast -g 250 -pix_fmt yuv420p`));
  const slides = "-f lavfi -i color=0x404040:s=320x180:r=1/5:d=15";
  clips.set("slides.mp4", await make("slides.mp4", `${slides} -c:v libx264 -pix_fmt yuv420p`));
  // A frame stands from 2.4 s to 4 s.
  const paused = `${gray} -vf select=not(between(t\\,2.43\\,3.97)) -fps_mode vfr`;
  clips.set("screen.mkv", await make("screen.mkv", `${paused} ${x264}`));
  const pq = "-color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc";
  clips.set(
    "pq.mp4",
    await make("pq.mp4", `${gray} -frames:v 50 -c:v libx265 -x265-params log-level=error -pix_fmt yuv420p10le ${pq}`),
  );
});
afterAll(async () => {
  closeServers();
});

const NO_TEXT = { probe: { streams: [], format: {} }, texts: { channels: [], readTexts: () => Promise.reject() } };

const burnt = (file: string, style: object = {}, more: object = {}): OutputOptions => ({
  format: "mp4::noaudio",
  params: { burn: { url: `${origin}${file}`, ...style }, ...more },
});

async function burnsFor(requests: readonly OutputOptions[]): Promise<Burns> {
  const folderOfTask = await mkdtemp(join(folder, "task-"));
  const work = { outputs: requests.map(specOf), folder: folderOfTask, ...NO_TEXT };
  const { burns, failed } = await prepareCaptions(work, deps);
  if (failed[0]) throw new Error(failed[0].failure.message);
  if (!burns) throw new Error("Nothing to burn in");
  return burns;
}

/** Whole and chunked outputs, losslessly. */
async function encode(clip: string, requests: readonly OutputOptions[]) {
  const burns = await burnsFor(requests);
  const both = await makeBoth(clips.get(clip) ?? "", requests, [2, 4], lossless, (argv, cwd) =>
    placeBurnFiles(argv, burns, cwd),
  );
  const framesOf = ({ folder, outputs }: (typeof both)["whole"]) =>
    Promise.all(outputs.map(({ files: [file = ""] }) => look(join(folder, file))));
  return { burns, whole: await framesOf(both.whole), joined: await framesOf(both.joined) };
}

const hashesOf = (video?: Shown) => video?.frames.map(({ hash }) => hash);
const shownFrames = ({ frames }: Shown) => frames.map(({ hash, seconds }) => [seconds.toFixed(4), hash]);

describe("burnt-in captions", () => {
  const requests = () => [
    burnt("/styled.ass"),
    burnt("/stacked.ass"),
    { ...burnt("/a.vtt"), format: "mp4:160x_30fps:noaudio" },
  ];
  const more = () => [
    burnt("/stacked.ass", { shift: -1.37 }),
    burnt("/a.vtt", { background: "#00000080", size: 8 }),
    burnt("/a.srt", { position: "top", outline: 1 }),
    { ...burnt("/a.vtt", {}, { fit: "blur" }), format: "mp4:180x320:noaudio" },
    { format: "mp4::noaudio" },
  ];
  let first: Awaited<ReturnType<typeof encode>>;
  beforeAll(async () => {
    first = await encode("25.mp4", [...requests(), ...more()]);
  });

  it("are those of ffmpeg's own filter", async () => {
    const { burns, whole } = first;
    const cwd = await mkdtemp(join(folder, "own-"));
    await placeBurnFiles(["burn-0.ass"], burns, cwd);
    await writeFile(join(cwd, "own.ass"), STYLED);
    const filters = "scale=320:180:flags=bicubic,format=yuv420p,subtitles=own.ass:fontsdir=fonts";
    const lossless264 = "-c:v libx264 -qp 0 own.mp4".split(" ");
    const argv = ["-v", "error", "-i", clips.get("25.mp4") ?? "", "-vf", filters, ...lossless264];
    await run(FFMPEG, argv, { cwd, env: toolEnvironment(cwd) });
    const reference = await look(join(cwd, "own.mp4"));
    expect(hashesOf(whole[0])).toEqual(hashesOf(reference));
    const changed = whole[0]?.frames.filter(({ hash }, at) => hash !== whole.at(-1)?.frames[at]?.hash).length;
    expect(changed).toBeGreaterThan(120);
  });

  it.each(["25.mp4", "ntsc.mkv", "ts.ts"])("are the same in chunks of %s as in the whole", async (clip) => {
    const { whole, joined } = clip === "25.mp4" ? first : await encode(clip, requests());
    expect(joined.map(shownFrames)).toEqual(whole.map(shownFrames));
  });

  it("are read from SCC", async () => {
    const { scripts } = await burnsFor([burnt("/a.scc")]);
    expect(scripts.get(0)?.events).toMatchObject([{ startMs: 1170, text: expect.stringContaining("HI") }]);
  });

  it("are shown at the source's time in trimmed outputs", async () => {
    const cues = burnt("/times.vtt", { size: 20 });
    const { outputs } = await processSource(clips.get("gray.mp4") ?? "", [
      { ...cues, params: { ...cues.params, offset: 2.6, duration: 1 } },
      { ...cues, params: { ...cues.params, offset: 24.6, duration: 1 } },
      { ...cues, format: "mkv:30fps:noaudio", params: { ...cues.params, offset: 24.6, duration: 1 } },
    ]);
    expect(await Promise.all(outputs.map(secondsWithText))).toEqual(Array.from({ length: 3 }, () => [0.4, 0.8]));
  });

  it("are in images of their time, however those are taken", async () => {
    const burn = { url: `${origin}/times.vtt` };
    const offsets = [2.95, 3.1, 3.45, 24.9, 25.2, 26];
    const { outputs } = await processSource(clips.get("gray.mp4") ?? "", [
      { format: "png:320x200", params: { burn, offsets, fit: "blur" } },
      { format: "png:320x", params: { burn, offsets: [3.1] } },
      { format: "gif:320x", params: { burn, scene: { number: 1, duration: 1 } } },
    ]);
    const [all, single, transparent] = outputs.map((output) => (output.ok ? output.files : []));
    expect(await Promise.all((all ?? []).map(hasText))).toEqual([false, true, false, false, true, false]);
    expect(await Promise.all((single ?? []).map(hasText))).toEqual([true]);
    expect(transparent).toHaveLength(1);
  });

  it("are drawn while a frame stands, as in slides and in recordings of a screen", async () => {
    const still = { size: 20, outline: 0 };
    const variants = ["mp4:320x:x"];
    const { outputs } = await processSource(clips.get("slides.mp4") ?? "", [
      burnt("/slides.srt", still),
      { ...burnt("/slides.srt", still), format: "webm::noaudio" },
      { format: "httpstream", params: { hls: { path: "h" }, variants, ...burnt("/slides.srt", still).params } },
    ]);
    for (const output of outputs) {
      const times = await textTimes(output);
      expect(times).toHaveLength(6);
      for (const [at, time] of [2, 4, 5, 7, 12, 14].entries()) {
        expect(Math.abs((times[at] ?? -1) - time)).toBeLessThanOrEqual(0.2);
      }
    }
    const screen = await processSource(clips.get("screen.mkv") ?? "", [burnt("/pause.srt", still)]);
    expect(await textTimes(screen.outputs[0])).toEqual([3.12, 3.52]);
  });

  it("are the same in chunks of a recording that pauses", async () => {
    const { whole, joined } = await encode("screen.mkv", [burnt("/pause.srt"), burnt("/styled.ass")]);
    expect(whole[0]?.frames.map(({ seconds }) => Math.round(25 * seconds))).toEqual(
      Array.from({ length: 150 }, (_, at) => at),
    );
    expect(joined.map(shownFrames)).toEqual(whole.map(shownFrames));
  });

  it("have the characters of the packaged fonts", async () => {
    const burn = { url: `${origin}/scripts.vtt`, size: 20 };
    const offsets = [...SCRIPTS].map((_, at) => at + 0.5);
    const { outputs } = await processSource(clips.get("gray.mp4") ?? "", [
      { format: "png:320x", params: { burn, offsets } },
    ]);
    const files = outputs[0]?.ok ? outputs[0].files : [];
    const [box, ...frames] = await Promise.all(files.map((file) => decode(file, "null", "gray")));
    const drawn = frames.map((frame) => box !== undefined && Buffer.compare(frame, box) !== 0);
    expect(drawn).toEqual(Array(SCRIPTS.length - 1).fill(true));
  });

  it("are white at 203 cd/m² in HDR, and white in SDR", async () => {
    const style = { size: 20, outline: 0, position: "top" };
    const [hdr, sdr] = (
      await processSource(clips.get("pq.mp4") ?? "", [
        { ...burnt("/block.ass", style), format: "mp4:hevc:noaudio:pix_fmt=yuv420p10le" },
        { ...burnt("/block.ass", style), format: "mp4::noaudio" },
      ])
    ).outputs.map((output) => (output.ok ? (output.files[0] ?? "") : output.failure.message));
    // PQ of 203 cd/m² is 0.581: 64 + 0.581 · 876 in limited range of 10 bits.
    expect(await brightest(hdr ?? "", "yuv420p10le")).toBeCloseTo(573, -1);
    expect(await brightest(sdr ?? "", "yuv420p")).toBeCloseTo(235, -1);
  });

  it("come from text tracks of the input, with the styles of ASS", async () => {
    const { make } = openWorkshop(folder);
    await writeFile(join(folder, "times.vtt"), FILES["/times.vtt"] ?? "");
    await writeFile(join(folder, "block.ass"), FILES["/block.ass"] ?? "");
    const maps =
      "-map 0:v -map 1 -map 2 -c copy -c:s:0 subrip -metadata:s:s:0 language=eng -metadata:s:s:1 language=deu";
    const clip = await make("tracks.mkv", `-i ${clips.get("gray.mp4")} -i times.vtt -i block.ass ${maps}`);
    const big = { size: 20, outline: 0 };
    const { outputs } = await processSource(clip, [
      { format: "mp4::noaudio", params: { burn: { from: "en", ...big }, duration: 4 } },
      { format: "png:320x", params: { burn: { from: 2 }, offsets: [1] } },
      { format: "png:320x", params: { burn: { from: 2, keep_style: false }, offsets: [1] } },
      { format: "mp4::noaudio", params: { burn: { from: "fr", optional: true }, duration: 1 } },
      { format: "mp4::noaudio", params: { burn: { from: "fr" } } },
    ]);
    expect(await secondsWithText(outputs[0])).toEqual([3, 3.4]);
    const [styled, plain] = await Promise.all(
      outputs.slice(1, 3).map((output) => hasText(output?.ok ? (output.files[0] ?? "") : "")),
    );
    // The drawing is no text.
    expect([styled, plain]).toEqual([true, false]);
    const note = expect.stringContaining("no subtitle track in the language fr");
    expect(outputs[3]).toMatchObject({ ok: true, note });
    expect(outputs[4]).toMatchObject({ ok: false, failure: { code: "input_track_not_found" } });
  });

  it("are in all renditions of streams, and fail alone", async () => {
    const variants = ["mp4:320x:48k", "mp4:160x:48k"];
    const burn = { url: `${origin}/times.vtt`, size: 20, outline: 0 };
    const { outputs } = await processSource(clips.get("gray.mp4") ?? "", [
      { format: "httpstream", params: { hls: { path: "h" }, variants, burn } },
      burnt("/page"),
      burnt("/missing"),
      burnt("/times.vtt", { font: { url: `${origin}/page` } }),
      burnt("/times.vtt", { font: "Unknown Sans" }),
      burnt("/japanese.vtt"),
    ]);
    const [stream, ...failed] = outputs;
    const playlists = stream?.ok ? stream.files : [];
    expect(playlists).toHaveLength(1);
    for (const rendition of ["0:v:0", "0:v:1"]) {
      const argv = ["-v", "error", "-allowed_extensions", "ALL", "-i", playlists[0] ?? "", "-map", rendition];
      const end = ["-ss", "3.2", "-frames:v", "1", "-vf", "scale=320:180", "-f", "rawvideo", "-pix_fmt", "gray", "-"];
      const { stdout } = await run(REFERENCE_FFMPEG, [...argv, ...end], { encoding: "buffer" });
      expect([rendition, stdout.reduce(max) > 200]).toEqual([rendition, true]);
    }
    expect(failed.map((output) => (output.ok ? null : output.failure))).toEqual([
      { code: "subtitle_failed", message: expect.stringMatching(/it is neither SubRip, WebVTT, ASS, TTML nor SCC/) },
      { code: "subtitle_failed", message: expect.stringMatching(/the host responded with HTTP 404/) },
      { code: "subtitle_failed", message: expect.stringMatching(/^The font .* it is not a TTF or OTF file/) },
      { code: "encoder_not_available", message: "The encoder node has no font `Unknown Sans`." },
      {
        code: "subtitle_failed",
        message: expect.stringContaining(
          "no font has 日 (U+65E5), 本 (U+672C), 語 (U+8A9E), の (U+306E), テ (U+30C6) and 2 more",
        ),
      },
    ]);
  });
});

/** True if a gray image has white pixels. */
const hasText = async (file: string): Promise<boolean> => (await brightest(file, "gray")) > 220;

/** Starts and ends of bright text, in turn, in seconds since the start of the output of 320x180 pixels. */
async function textTimes(output: ProcessedOutput | undefined): Promise<number[]> {
  const [file = ""] = output?.ok ? output.files : [];
  const pixels = await decode(file, "fps=25", "gray");
  const isBright = Array.from({ length: pixels.length / CAPTIONED_FRAME }, (_, at) =>
    pixels.subarray(at * CAPTIONED_FRAME, (at + 1) * CAPTIONED_FRAME).some((value) => value > 220),
  );
  return isBright.flatMap((bright, at) => (bright === (isBright[at - 1] ?? false) ? [] : [at / 25]));
}

async function brightest(file: string, pixelFormat: string): Promise<number> {
  const pixels = await decode(file, "crop=320:180:0:0", pixelFormat);
  const isDeep = pixelFormat.endsWith("le");
  const luma = pixels.subarray(0, CAPTIONED_FRAME * (isDeep ? 2 : 1));
  return isDeep
    ? new Uint16Array(luma.buffer.slice(luma.byteOffset, luma.byteOffset + luma.length)).reduce(max)
    : luma.reduce(max);
}
const max = (a: number, b: number): number => Math.max(a, b);
