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
const [SECONDS, FPS] = [9, 25];
beforeAll(async () => {
  // A scene cut at 3 s, between two lines of the grid.
  const scenes = "-f lavfi -i testsrc2=s=160x90:r=25:d=3 -f lavfi -i mandelbrot=s=160x90:r=25";
  const joined = `-filter_complex [0:v][1:v]concat=n=2,format=yuv420p,trim=duration=${SECONDS}[v] -map [v]`;
  const tone = `-f lavfi -i aevalsrc=0.2*sin(880*t)|0.2*sin(660*t):s=48000:d=${SECONDS}`;
  for (const codec of ["aac", "ac3", "eac3"]) {
    const options = `${scenes} ${tone} ${joined} -map 2:a -c:v libx264 -preset ultrafast -c:a ${codec}`;
    expect(await ffmpeg(folder, `${options} ${codec}.mkv`)).toEqual({ ok: true });
  }
});
afterAll(() => storages.destroy());

type Stream = { readonly home: string; readonly note?: string | undefined; readonly text: (file: string) => string };

async function makeStream(source: string, params: Readonly<Record<string, unknown>>): Promise<Stream> {
  const planned = await planStream(join(folder, source), { segment_duration: 4, ...params });
  const store = await startTestStorage();
  const files = await RunFiles.create(folder);
  const signal = new AbortController().signal;
  const deps = { requestUploads: store.requestUploads, storages, log: silentLog, signal, playable: () => undefined };
  const options = { ...planned, files, folder: "run", subtitles: [] };
  const publication = openPublication(options, { ...deps, ffprobe: tools.ffprobe });
  const command = { path: tools.ffmpeg.path, argv: planned.argv, reads: [join(folder, source)], stallMs: 60_000 };
  try {
    expect(await files.inRun((cwd) => runCommand({ ...command, cwd }))).toEqual({ ok: true });
    await publication.check();
    expect(await publication.finish(() => undefined)).toHaveProperty("value.files");
    const home = join(folder, `stream-${source}-${Object.keys(params).join("-")}`);
    await store.save(home);
    return { home, note: planned.planned.note, text: (file) => String(store.objects.get(file)) };
  } finally {
    await publication.stop();
    store.close();
  }
}

/** Attributes of each line of a playlist that starts with the tag. */
const attributes = (text: string, tag: string, ...names: readonly string[]): string[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith(`#${tag}:`))
    .map((line) =>
      names.map((name) => new RegExp(`[:,]${name}="?([^",]+(?:,[^"=]+(?="))?)`).exec(line)?.[1]).join(" "),
    );

const run = promisify(execFile);

type Packets = { readonly count: number; readonly keyframes: readonly number[]; readonly first: number };

/** Packets of a track, with the indexes of its keyframes. Fails if a decoder complains. */
async function decoded(home: string, playlist: string): Promise<Packets> {
  const options = { cwd: home, env: toolEnvironment(), maxBuffer: 1e8 };
  const inputs = ["-allowed_extensions", "ALL", "-i", playlist];
  await run(tools.ffmpeg.path, ["-v", "error", "-xerror", ...inputs, "-f", "null", "-"], options);
  const entries = ["-show_entries", "packet=pts_time,flags", "-of", "csv=p=0"];
  const { stdout } = await run(tools.ffprobe.path, ["-v", "error", ...inputs, ...entries], options);
  const rows = stdout.split("\n").filter((line) => line.trim() !== "");
  return {
    count: rows.length,
    keyframes: rows.flatMap((row, at) => (row.includes(",K") ? [at] : [])),
    first: Number.parseFloat(rows[0] ?? ""),
  };
}

it("packages four codecs of video with two of audio: CODECS, order, scores, priorities and the same keyframes", async () => {
  const variants = ["mp4:av1_160x90", "mp4:vp9_160x90", "mp4:hevc_160x90", "mp4:160x90", "mp4:96x54", "mp4:x:opus_64k"];
  const { home, note, text } = await makeStream("aac.mkv", {
    variants,
    hls: { path: "h", segments: "fmp4" },
    dash: { path: "d", hlsfmp4: true },
  });
  expect(note).toBeUndefined();
  for (const master of ["hls/master.m3u8", "dash/master.m3u8"]) {
    const pairs = (video: string, score: number): string[] =>
      ["mp4a.40.2", "opus"].map(
        (audio) => `${video},${audio} ${score} audio-${audio === "opus" ? "opus-64k" : "128k"}`,
      );
    const lines = attributes(text(master), "EXT-X-STREAM-INF", "CODECS", "SCORE", "AUDIO");
    // Levels and chroma differ between versions of ffmpeg.
    expect(lines.map((line) => line.replace(/^(\w{4})\.[^,]+,/, "$1,"))).toEqual([
      ...[...pairs("avc1", 11), ...pairs("avc1", 10), ...pairs("hvc1", 21), ...pairs("vp09", 31), ...pairs("av01", 41)],
      "opus 1 ",
    ]);
    const groups = attributes(text(master), "EXT-X-MEDIA", "GROUP-ID", "CHANNELS");
    expect(groups.toSorted()).toEqual(["audio-128k 2", "audio-opus-64k 2"]);
  }
  const sets = text("dash/master.mpd").split("<AdaptationSet ").slice(1);
  const summary = (set: string): string =>
    [...set.matchAll(/(?<=selectionPriority=")\d|(?<=codecs=")\w+/g)].map(String).join(" ");
  expect(sets.map(summary)).toEqual(["4 av01", "2 vp09", "3 hvc1", "1 avc1 avc1", "mp4a", "opus"]);

  const grid = [0, 50, 100, 150, 200];
  for (const name of ["90p-av1", "90p-vp9", "90p-hevc", "90p", "54p"]) {
    const track = await decoded(home, `hls/run/${name}.m3u8`);
    expect([name, track.count, track.keyframes]).toEqual([name, SECONDS * FPS, grid]);
  }
  const { first } = await decoded(home, "hls/run/audio-opus-64k.m3u8");
  // The encoder's pre-skip of 312 samples comes before time 0, at 10 s.
  expect(first).toBeCloseTo(10 - 312 / 48_000, 4);
});

it.each([
  ["flac and ac3 in fragmented MP4", "aac.mkv", ["mp4:160x90:flac", "mp4:x:ac3_128k"], "fmp4", ["fLaC", "ac-3"]],
  ["aac and ac3 in MPEG-TS", "aac.mkv", ["mp4:160x90", "mp4:x:ac3_128k"], "mpegts", ["mp4a.40.2", "ac-3"]],
  ["copies of AC-3 in MPEG-TS", "ac3.mkv", ["mp4:160x90:copy"], "mpegts", ["ac-3"]],
  ["copies of E-AC-3 in fragmented MP4", "eac3.mkv", ["mp4:160x90:copy"], "fmp4", ["ec-3"]],
] as const)("packages %s", SLOW, async (_, source, variants, segments, codecs) => {
  const hls = { path: "h", segments };
  const { home, text } = await makeStream(source, { variants, hls, dash: { path: "d" } });
  const all = attributes(text("hls/master.m3u8"), "EXT-X-STREAM-INF", "CODECS");
  expect(all.slice(0, codecs.length)).toEqual(
    codecs.map((codec) => expect.stringMatching(new RegExp(`^avc1.*,${codec}$`))),
  );
  expect(attributes(text("hls/master.m3u8"), "EXT-X-MEDIA", "CHANNELS")).toEqual(codecs.map(() => "2"));
  for (const name of attributes(text("hls/master.m3u8"), "EXT-X-MEDIA", "GROUP-ID")) {
    const { first } = await decoded(home, `hls/run/${name}.m3u8`);
    const seconds =
      text(`hls/run/${name}.m3u8`)
        .match(/(?<=#EXTINF:)[\d.]+/g)
        ?.map(Number) ?? [];
    expect(seconds.length).toBeGreaterThan(1);
    expect(first).toBeLessThanOrEqual(10.01);
    expect(seconds.reduce((sum, length) => sum + length, 0)).toBeCloseTo(SECONDS, 0);
  }
});
