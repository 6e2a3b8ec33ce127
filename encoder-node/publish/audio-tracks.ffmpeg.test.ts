// Streams with several audio tracks: playlists, manifests and segments as they are stored.
import { execFile } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Parser } from "m3u8-parser";
import { parse } from "mpd-parser";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { OutputReport } from "#shared/protocol/reports.ts";
import { specOf } from "#shared/testing/output-specs.ts";
import { type ChunkTestBed, encodeWhole, type Outputs, openChunkTestBed } from "../testing/jobs/chunked-jobs.ts";
import { REFERENCE_FFMPEG } from "../testing/plan-runs.ts";

const CLIP = "short-languages.mkv";
const AUDIO = [
  { from: "de", name: "Deutsch" },
  { from: "en", default: true },
  { from: "fr" },
  { from: "en", role: "description", name: "English (AD)", format: "aac_48k_mono" },
];
const VARIANTS = ["mp4:64x36", "mp4:x36:64k", "mp4:x:64k"];

let testBed: ChunkTestBed;
let whole: Outputs;
let live: Outputs;
beforeAll(async () => {
  testBed = await openChunkTestBed([CLIP]);
  const both = { hls: { path: "a" }, dash: { path: "b" }, variants: VARIANTS, audio: AUDIO };
  const growing = { hls: { path: "c" }, variants: VARIANTS, audio: "all", loudness: -20, live_playlist: true };
  whole = await encodeWhole(testBed, CLIP, [specOf(stream(both), 0)]);
  live = await encodeWhole(testBed, CLIP, [specOf(stream(growing), 0)]);
});
afterAll(() => testBed.close());

function stream(params: object) {
  return { format: "httpstream", params: { segment_duration: 2, ...params } };
}

const textOf = (name: string, { storage }: Outputs = whole): string => storage.objects.get(name)?.toString() ?? "";
const madeReport = ({ result }: Outputs): Extract<OutputReport, { status: "made" }> => {
  const [report] = result.outputs;
  if (report?.status !== "made") throw new Error(JSON.stringify(report));
  return report;
};

const lines = (text: string, start: string): string[] => text.split("\n").filter((line) => line.startsWith(start));
const attribute = (line: string, name: string): string | null =>
  new RegExp(`[:,]${name}=("[^"]*"|[^,]*)`).exec(line)?.[1]?.replaceAll('"', "") ?? null;

it("lists each track in each group of the master playlist, with the same name", () => {
  const text = textOf("hls/master.m3u8");
  const media = lines(text, "#EXT-X-MEDIA:TYPE=AUDIO");
  const listed = media.map((line) =>
    ["GROUP-ID", "LANGUAGE", "NAME", "DEFAULT", "AUTOSELECT", "CHARACTERISTICS", "CHANNELS"].map((name) =>
      attribute(line, name),
    ),
  );
  const tracks = (group: string) => [
    [group, "de", "Deutsch", "NO", "YES", null, "2"],
    [group, "en", "English", "YES", "YES", null, "6"],
    [group, "fr", "français", "NO", "NO", null, "1"],
    [group, "en", "English (AD)", "NO", "YES", "public.accessibility.describes-video", "1"],
  ];
  expect(listed).toEqual([...tracks("audio-128k"), ...tracks("audio-64k")]);
  const uris = media.map((line) => attribute(line, "URI")?.split("/").at(-1));
  // The track with its own format is encoded once.
  expect(new Set(uris).size).toBe(7);
  expect(lines(text, "#EXT-X-STREAM-INF").map((line) => attribute(line, "AUDIO"))).toEqual([
    "audio-128k",
    "audio-64k",
    "audio-64k",
  ]);
});

it("is read by an independent HLS parser", () => {
  const parser = new Parser();
  parser.push(textOf("hls/master.m3u8"));
  parser.end();
  const groups = parser.manifest.mediaGroups?.AUDIO ?? {};
  expect(Object.values(groups).map((group) => Object.keys(group))).toEqual([
    ["Deutsch", "English", "français", "English (AD)"],
    ["Deutsch", "English", "français", "English (AD)"],
  ]);
});

it("has an adaptation set per track in the manifest, with language, label, role and purpose", () => {
  const text = textOf("dash/master.mpd");
  const sets = [...text.matchAll(/<AdaptationSet [^>]*contentType="audio"[\s\S]*?<\/AdaptationSet>/g)].map(([set]) => ({
    lang: /lang="(\w+)"/.exec(set)?.[1],
    label: /<Label>(.*)<\/Label>/.exec(set)?.[1],
    role: /role:2011" value="(\w+)"/.exec(set)?.[1],
    purpose: /AudioPurposeCS:2007" value="(\d)"/.exec(set)?.[1] ?? null,
    encodings: set.match(/<Representation /g)?.length,
  }));
  expect(sets).toEqual([
    { lang: "en", label: "English", role: "main", purpose: null, encodings: 2 },
    { lang: "de", label: "Deutsch", role: "main", purpose: null, encodings: 2 },
    { lang: "fr", label: "français", role: "commentary", purpose: null, encodings: 2 },
    { lang: "en", label: "English (AD)", role: "description", purpose: "1", encodings: 1 },
  ]);
  const { mediaGroups } = parse(text, { manifestUri: "https://cdn/p/master.mpd" });
  expect(Object.keys(mediaGroups.AUDIO.audio ?? {})).toHaveLength(4);
});

/** Time in seconds at which a track of the HLS package becomes loud. */
async function startOf(name: string): Promise<number> {
  const playlist = [...whole.storage.objects.keys()].find(
    (key) => key.startsWith("hls/") && key.endsWith(`/${name}.m3u8`),
  );
  const names = textOf(playlist ?? "")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  const folder = (playlist ?? "").replace(/[^/]+$/, "");
  const file = join(await mkdtemp(join(testBed.folder, "look-")), "a.ts");
  await writeFile(
    file,
    Buffer.concat(names.map((segment) => whole.storage.objects.get(folder + segment) ?? Buffer.alloc(0))),
  );
  const filters = "pan=mono|c0=c0,aresample=async=1:first_pts=480000";
  const argv = ["-v", "error", "-copyts", "-i", file, "-af", filters, "-f", "s16le", "-ar", "48000", "-"];
  const { stdout } = await promisify(execFile)(REFERENCE_FFMPEG, argv, { encoding: "buffer", maxBuffer: 2 ** 26 });
  const samples = new Int16Array(stdout.buffer.slice(stdout.byteOffset, stdout.byteOffset + (stdout.length & ~1)));
  return samples.findIndex((sample) => Math.abs(sample) > 200) / 48_000;
}

it("keeps the start of each track", async () => {
  expect(await startOf("audio-128k")).toBeLessThan(0.01);
  expect(await startOf("audio-128k-t1")).toBeGreaterThan(0.49);
  expect(await startOf("audio-128k-t1")).toBeLessThan(0.51);
  expect(await startOf("audio-64k-t3")).toBeLessThan(0.01);
});

it("has all tracks in the metadata of the package", () => {
  const streams = madeReport(whole).packages?.hls?.streams ?? [];
  expect(streams.filter(({ codec_type }) => codec_type === "video")).toHaveLength(2);
  const languages = streams.filter(({ codec_type }) => codec_type === "audio").map(({ tags }) => tags?.language);
  expect(languages.toSorted()).toEqual(["deu", "deu", "eng", "eng", "eng", "eng", "fra", "fra"]);
});

it("measures the loudness of each track, and gives each its own gain", () => {
  const { loudness = [] } = madeReport(live);
  expect(loudness.map(({ track }) => track)).toEqual([1, 2, 3]);
  for (const { output } of loudness) expect(Math.abs(output.integrated + 20)).toBeLessThan(0.3);
  expect(new Set(loudness.map(({ gain_db }) => gain_db)).size).toBeGreaterThan(1);
});

it("grows live playlists with all tracks", () => {
  const master = textOf("hls/master.m3u8", live);
  expect(lines(master, "#EXT-X-MEDIA:TYPE=AUDIO").map((line) => attribute(line, "LANGUAGE"))).toEqual([
    ...["en", "de", "fr"],
    ...["en", "de", "fr"],
  ]);
});
