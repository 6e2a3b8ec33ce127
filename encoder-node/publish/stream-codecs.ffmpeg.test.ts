// Streams in several codecs, made by ffmpeg and packaged: their playlists, manifests and decoded tracks.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { runCommand } from "../ffmpeg/run-command.ts";
import { toolEnvironment } from "../ffmpeg/sandbox/tool-environment.ts";
import { storageAgent } from "../network/storage-agent.ts";
import { RunFiles } from "../run-files/run-files.ts";
import { SLOW } from "../testing/few.ts";
import { ffmpeg, planStream, tools } from "../testing/jobs/stream-encode.ts";
import { startTestStorage } from "../testing/jobs/stream-storage.ts";
import { silentLog } from "../testing/silent-log.ts";
import { openPublication } from "./publication.ts";

const storages = storageAgent("loopback");
const folder = fileFolder();
const SECONDS = 9;
beforeAll(async () => {
  // A new scene at 3 s, between two lines of the grid.
  const scenes = "-f lavfi -i testsrc2=s=160x90:r=25:d=3 -f lavfi -i mandelbrot=s=160x90:r=25";
  const joined = `-filter_complex [0:v][1:v]concat=n=2,format=yuv420p,trim=duration=${SECONDS}[v] -map [v]`;
  const tone = `-f lavfi -i aevalsrc=0.2*sin(880*t)|0.2*sin(660*t):s=48000:d=${SECONDS}`;
  for (const codec of ["aac", "ac3", "eac3"]) {
    const options = `${scenes} ${tone} ${joined} -map 2:a -c:v libx264 -preset ultrafast -c:a ${codec}`;
    expect(await ffmpeg(folder, `${options} ${codec}.mkv`)).toEqual({ ok: true });
  }
});
afterAll(() => storages.destroy());

/** Returns the folder with the stream's files, and the content of a file. */
async function makeStream(source: string, params: Readonly<Record<string, unknown>>) {
  const planned = await planStream(join(folder, source), { segment_duration: 4, ...params });
  const store = await startTestStorage();
  const files = await RunFiles.create(folder);
  const { signal } = new AbortController();
  const deps = { requestUploads: store.requestUploads, storages, log: silentLog, signal, playable: () => undefined };
  const options = { ...planned, files, folder: "run", subtitles: [] };
  const publication = openPublication(options, { ...deps, ffprobe: tools.ffprobe });
  const command = { path: tools.ffmpeg.path, argv: planned.argv, reads: [join(folder, source)], stallMs: 60_000 };
  expect(await files.inRun((cwd) => runCommand({ ...command, cwd }))).toEqual({ ok: true });
  await publication.check();
  expect(await publication.finish(() => undefined)).toHaveProperty("value.files");
  const home = join(folder, `stream-${source}-${Object.values(params).length}`);
  await store.save(home);
  store.close();
  return { home, text: (file: string) => String(store.objects.get(file)) };
}

/** Attributes of each line of a playlist that starts with the tag. */
const attributes = (text: string, tag: string, ...names: readonly string[]): string[] =>
  [...text.matchAll(new RegExp(`^#${tag}:.*`, "gm"))].map(([line]) =>
    names.map((name) => new RegExp(`[:,]${name}=(?:"([^"]+)"|([^,]+))`).exec(line)?.slice(1).join("")).join(" "),
  );

const run = promisify(execFile);

/** Times of a track's packets, and the indexes of its keyframes. Fails if a decoder complains. */
async function decoded(home: string, track: string) {
  const options = { cwd: join(home, "hls/run"), env: toolEnvironment(), maxBuffer: 1e8 };
  const inputs = ["-v", "error", "-allowed_extensions", "ALL", "-i", `${track}.m3u8`];
  await run(tools.ffmpeg.path, ["-xerror", ...inputs, "-f", "null", "-"], options);
  const entries = ["-show_entries", "packet=pts_time,flags", "-of", "csv=p=0"];
  const { stdout } = await run(tools.ffprobe.path, [...inputs, ...entries], options);
  const rows = stdout.trim().split("\n");
  return { times: rows.map(Number.parseFloat), keyframes: [...rows.keys()].filter((at) => rows[at]?.includes(",K")) };
}

it("packages four codecs of video with two of audio: CODECS, order, scores, priorities, the same keyframes", async () => {
  const variants = ["mp4:av1_160x90", "mp4:vp9_160x90", "mp4:hevc_160x90", "mp4:160x90", "mp4:96x54", "mp4:x:opus_64k"];
  const dash = { path: "d", hlsfmp4: true };
  const { home, text } = await makeStream("aac.mkv", { variants, hls: { path: "h", segments: "fmp4" }, dash });
  for (const master of ["hls/master.m3u8", "dash/master.m3u8"]) {
    const pairs = (video: string, score: number): string[] => [
      ...[`${video},mp4a.40.2 ${score} audio-128k`, `${video},opus ${score} audio-opus-64k`],
    ];
    const lines = attributes(text(master), "EXT-X-STREAM-INF", "CODECS", "SCORE", "AUDIO");
    // Levels and chroma differ between versions of ffmpeg.
    expect(lines.map((line) => line.replace(/^(\w{4})\.[^,]+,/, "$1,"))).toEqual([
      ...[...pairs("avc1", 11), ...pairs("avc1", 10), ...pairs("hvc1", 21), ...pairs("vp09", 31), ...pairs("av01", 41)],
      "opus 1 ",
    ]);
    expect(attributes(text(master), "EXT-X-I-FRAME-STREAM-INF", "SCORE")).toEqual(["11", "10", "21", "31", "41"]);
    expect(attributes(text(master), "EXT-X-MEDIA", "GROUP-ID")).toEqual(["audio-128k", "audio-opus-64k"]);
  }
  const sets = text("dash/master.mpd").split("<AdaptationSet ").slice(1);
  const summary = (set: string): string =>
    [...set.matchAll(/(?<=selectionPriority=")\d|(?<=codecs=")\w+/g)].map(String).join(" ");
  expect(sets.map(summary)).toEqual(["4 av01", "2 vp09", "3 hvc1", "1 avc1 avc1", "mp4a", "opus"]);
  for (const name of ["90p-av1", "90p-vp9", "90p-hevc", "90p", "54p"]) {
    const { times, keyframes } = await decoded(home, name);
    expect([name, times.length, keyframes]).toEqual([name, SECONDS * 25, [0, 50, 100, 150, 200]]);
  }
  // The encoder's pre-skip of 312 samples comes before time 0, at 10 s.
  expect((await decoded(home, "audio-opus-64k")).times[0]).toBeCloseTo(10 - 312 / 48_000, 4);
});

it.each([
  ["flac and ac3 in fragmented MP4", "aac.mkv", ["mp4:160x90:flac", "mp4:x:ac3_128k"], "fmp4", ["fLaC", "ac-3"]],
  ["aac and ac3 in MPEG-TS", "aac.mkv", ["mp4:160x90", "mp4:x:ac3_128k"], "mpegts", ["mp4a.40.2", "ac-3"]],
  ["copies of AC-3 in MPEG-TS", "ac3.mkv", ["mp4:160x90:copy"], "mpegts", ["ac-3"]],
  ["copies of E-AC-3 in fragmented MP4", "eac3.mkv", ["mp4:160x90:copy"], "fmp4", ["ec-3"]],
] as const)("packages %s", SLOW, async (_, source, variants, segments, codecs) => {
  const { home, text } = await makeStream(source, { variants, hls: { path: "h", segments }, dash: { path: "d" } });
  const master = text("hls/master.m3u8");
  const all = attributes(master, "EXT-X-STREAM-INF", "CODECS").slice(0, codecs.length);
  expect(all).toEqual(codecs.map((codec) => expect.stringMatching(new RegExp(`^avc1.*,${codec}$`))));
  expect(attributes(master, "EXT-X-MEDIA", "CHANNELS")).toEqual(codecs.map(() => "2"));
  for (const name of attributes(master, "EXT-X-MEDIA", "GROUP-ID")) {
    const { times } = await decoded(home, name);
    expect(times[0]).toBeLessThanOrEqual(10.01);
    expect(times.at(-1)).toBeCloseTo(10 + SECONDS, 0);
  }
});
