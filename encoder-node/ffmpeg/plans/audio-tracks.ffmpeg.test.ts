// The parameter `audio` of files: tracks of the source, matrices, merged tracks and other files.
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { fileFolder } from "../../../test/fixtures.ts";
import { probeSource } from "../../source/probe/probe-source.ts";
import { encodeClip, makeClip, probe, REFERENCE_FFMPEG, tested } from "../../testing/plan-runs.ts";

const VIDEO = "-f lavfi -i testsrc2=s=64x36:r=25:d=2";
/** A different noise for each channel, so that samples show their channel and their time. */
const noise = (channels: number, seed: number, late = 0): string => {
  const channelNoise = (at: number): string => `(random(${seed + at})-0.5)*0.4`;
  const all = Array.from({ length: channels }, (_, at) => channelNoise(at)).join("|");
  const layout = { 1: "mono", 2: "stereo", 6: "5.1" }[channels];
  return `-itsoffset ${late} -f lavfi -i aevalsrc=exprs=${all}:c=${layout}:s=48000:d=1.5`;
};
const LISTED = [
  ...[VIDEO, noise(6, 0), noise(2, 10, 0.5), noise(1, 20), "-f lavfi -i sine=d=1:r=48000"],
  "-map 0 -map 1 -map 2 -map 3 -map 4 -c:v libx264 -preset ultrafast -c:a pcm_s16le -c:a:3 flac",
  "-metadata:s:a:0 language=eng -metadata:s:a:1 language=ger -metadata:s:a:1 title=Fassung -metadata:s:a:2 language=fra",
  "-metadata:s:a:3 language=spa -disposition:a:0 default -disposition:a:1 0 -disposition:a:2 comment",
].join(" ");
const MONO = [
  VIDEO,
  ...Array.from({ length: 8 }, (_, at) => noise(1, 30 + at)),
  ...Array.from({ length: 9 }, (_, at) => `-map ${at}`),
  "-c:v mpeg2video -c:a pcm_s16le",
].join(" ");

const folder = fileFolder();
const clip = (name: string): string => path.join(folder, name);
beforeAll(async () => {
  await Promise.all([
    makeClip(folder, "listed.mkv", LISTED),
    makeClip(folder, "mono.mxf", MONO),
    makeClip(folder, "plain.mp4", `${VIDEO} ${noise(2, 50)} -c:v libx264 -c:a aac -shortest`),
    // Matroska rounds timestamps to milliseconds, QuickTime does not round.
    makeClip(
      folder,
      "exact.mov",
      `${VIDEO} ${noise(6, 0)} ${noise(1, 20)} -map 0 -map 1 -map 2 -c:v libx264 -c:a pcm_s16le -metadata:s:a:1 language=fra`,
    ),
    makeClip(folder, "french.wav", `${noise(1, 60)} -c:a pcm_s16le`),
  ]);
  // No version of ffmpeg decodes AC-4.
  const bytes = (await readFile(clip("listed.mkv"))).toString("latin1").replace("A_FLAC", "A_AC4\0");
  await writeFile(clip("listed.mkv"), bytes, "latin1");
});

const run = promisify(execFile);

/** Samples of a file's audio stream on its own timeline: silence before a late start. */
async function samples(file: string, stream: number, ...filters: readonly string[]): Promise<Int16Array> {
  const chain = [...filters, "aresample=async=1:first_pts=0"].join(",");
  const argv = ["-v", "error", "-i", file, "-map", `0:a:${stream}`, "-af", chain, "-f", "s16le", "-"];
  const { stdout } = await run(REFERENCE_FFMPEG, argv, { encoding: "buffer", maxBuffer: 2 ** 28 });
  return new Int16Array(stdout.buffer.slice(stdout.byteOffset, stdout.byteOffset + (stdout.length & ~1)));
}

const WINDOW = 2048;
const MOST_LAG = 64;

/** Samples by which a part of the source is later in another file than expected: where both are most alike. */
function lagAt(encoded: Int16Array, source: Int16Array, from: number, expected: number): number {
  const part = source.subarray(from, from + WINDOW);
  const likeness = Array.from({ length: 2 * MOST_LAG + 1 }, (_, at) => {
    const start = from + expected + at - MOST_LAG;
    return part.reduce((sum, sample, index) => sum + sample * (encoded[start + index] ?? 0), 0);
  });
  return likeness.indexOf(Math.max(...likeness)) - MOST_LAG;
}

async function encode(name: string, format: string, audio: unknown, params: object = {}) {
  const source = clip(name);
  const encoded = await encodeClip(source, [{ format, params: { audio, ...params } }]);
  return { ...encoded, file: encoded.files.get(0)?.[0] ?? "", note: encoded.commands[0]?.outputs[0]?.note };
}

/** Codec, language, title and dispositions of each audio stream. */
async function tracksOf(file: string) {
  const { streams } = await probe(file);
  return streams
    .filter(({ codec_type }) => codec_type === "audio")
    .map(({ codec_name, channels, tags = {}, disposition = {} }) => ({
      codec: codec_name,
      channels,
      language: tags.language ?? null,
      name: tags.title ?? tags.name ?? tags.handler_name ?? null,
      is: Object.keys(disposition).filter((name) => disposition[name] === 1),
    }));
}

const LIST = [
  { from: "de", name: "Deutsch; #1 = neu" },
  { from: "en", name: "日本語", default: true },
  { from: 3, language: "fr-CA", role: "description" },
];

describe("audio tracks of files", () => {
  it.each([
    ["mp4", "fra", ["visual_impaired", "descriptions"]],
    ["mp4:::frag", "fra", ["visual_impaired", "descriptions"]],
    ["mov", "fra", []],
    ["mkv", "fra", ["visual_impaired"]],
    ["m4a", "fra", []],
  ])(
    "writes the requested tracks to %s with languages, names and dispositions",
    async (format, language, dispositions) => {
      const { file, failures } = await encode("listed.mkv", format, LIST);
      expect(failures).toEqual([]);
      expect(await tracksOf(file)).toEqual([
        { codec: "aac", channels: 2, language: format === "mov" ? "ger" : "deu", name: "Deutsch; #1 = neu", is: [] },
        { codec: "aac", channels: 6, language: "eng", name: "日本語", is: ["default"] },
        { codec: "aac", channels: 1, language, name: "français canadien", is: dispositions },
      ]);
    },
  );

  it.each([
    ["webm", ["deu", "eng", "fra"]],
    ["mpegts", ["deu", "eng", "fra"]],
  ])("writes the languages of several tracks to %s", async (container, languages) => {
    const { file, failures } = await encode("listed.mkv", `${container}:64x36`, LIST);
    expect(failures).toEqual([]);
    expect((await tracksOf(file)).map(({ language }) => language)).toEqual(languages);
  });

  it("takes all tracks that can be decoded, in their order, with their traits", async () => {
    const { file, note } = await encode("listed.mkv", "mkv", "all");
    expect(await tracksOf(file)).toMatchObject([
      { channels: 6, language: "eng", name: "English", is: ["default"] },
      { channels: 2, language: "deu", name: "Fassung", is: [] },
      { channels: 1, language: "fra", name: "français", is: ["comment"] },
    ]);
    expect(note).toBe("Audio tracks of the input that cannot be decoded were left out: 4.");
  });

  it.each(["mkv:x:pcm-s16le", "mov:x:pcm-s16le"])(
    "keeps each sample of each track in %s at its time",
    async (format) => {
      const { file } = await encode("listed.mkv", format, "all");
      for (const at of [0, 1, 2]) {
        const [encoded, source] = [await samples(file, at), await samples(clip("listed.mkv"), at)];
        expect(source.length).toBeGreaterThan(48_000);
        expect(Buffer.compare(Buffer.from(encoded.buffer), Buffer.from(source.buffer))).toBe(0);
      }
    },
  );

  it.each([
    ["mp4:64x36", 1],
    ["mov:64x36", 1],
    // Matroska rounds timestamps to milliseconds.
    ["mkv:64x36:ac3_256k", 48],
  ])("keeps each track of %s in sync with the video, at its start, middle and end", async (format, most) => {
    const { file } = await encode("listed.mkv", format, "all");
    const { format: whole, streams } = await probe(file);
    // The file starts with the delay of the audio encoder.
    const delay = Math.round((Number(streams[0]?.start_time) - Number(whole.start_time)) * 48_000);
    for (const at of [0, 1, 2]) {
      const channel = "pan=mono|c0=c0";
      const [encoded, source] = [await samples(file, at, channel), await samples(clip("listed.mkv"), at, channel)];
      const first = source.findIndex((sample) => sample !== 0);
      const last = source.length - WINDOW - MOST_LAG;
      const lags = [first, (first + last) >> 1, last].map((from) => Math.abs(lagAt(encoded, source, from, delay)));
      expect([at, Math.max(...lags) <= most, lags]).toEqual([at, true, lags]);
    }
  });

  it("merges mono tracks to a layout, in the order of the request", async () => {
    const { file } = await encode("mono.mxf", "wav", [{ from: [3, 1, 2, 4, 5, 6] }]);
    expect((await probe(file)).streams).toMatchObject([{ channels: 6, channel_layout: "5.1" }]);
    for (const [channel, number] of [3, 1, 2, 4, 5, 6].entries()) {
      const [encoded, source] = [
        await samples(file, 0, `pan=mono|c0=c${channel}`),
        await samples(clip("mono.mxf"), number - 1),
      ];
      expect(Buffer.compare(Buffer.from(encoded.buffer), Buffer.from(source.buffer))).toBe(0);
    }
  });

  it("merges tracks beside other tracks and video", async () => {
    const { file, failures } = await encode("mono.mxf", "mp4", [{ from: [1, 2] }, { from: [7, 8], format: "ac3" }]);
    expect(failures).toEqual([]);
    expect(await tracksOf(file)).toMatchObject([
      { codec: "aac", channels: 2, is: ["default"] },
      { codec: "ac3", channels: 2, is: [] },
    ]);
  });

  it("gives merged tracks that start or end at different times silence before and after", async () => {
    const { file } = await encode("listed.mkv", "wav", [{ from: [3, 2] }]);
    const encoded = await samples(file, 0, "pan=mono|c0=c1");
    const source = await samples(clip("listed.mkv"), 1, "pan=mono|c0=c0");
    expect(encoded.length).toBe(2 * 48_000);
    expect(encoded).toEqual(source);
  });

  it.each([
    [
      [
        [1, 0, 0.5],
        [0, 1, 0.5],
      ],
      "pan=stereo|c0=1*c0+0.5*c2|c1=1*c1+0.5*c2",
    ],
    [[[0.25, 0.25, -0.125, 0, 0.25, 0.25]], "pan=mono|c0=0.25*c0+0.25*c1-0.125*c2+0.25*c4+0.25*c5"],
    [[[0, 0, 1], [0], [0, 0, 0, 0, 0, 2]], "pan=3.0|c0=c2|c1=0*c0|c2=2*c5"],
  ])("mixes channels by the matrix %j like ffmpeg's %s", async (map, pan) => {
    const { file } = await encode("listed.mkv", "wav", [{ from: "en", map }]);
    const [encoded, expected] = [await samples(file, 0), await samples(clip("listed.mkv"), 0, pan)];
    expect(encoded.length).toBe(expected.length);
    expect(Buffer.compare(Buffer.from(encoded.buffer), Buffer.from(expected.buffer))).toBe(0);
  });

  it.each([
    ["mov:x:pcm-s16le", 0.25],
    ["mov:x:pcm-s16le", -0.25],
    ["mp4:64x36:flac", 0.1234375],
    ["mp4:64x36:flac", -0.0234375],
  ])("shifts a track of %s by %s seconds to the sample", async (format, offset) => {
    const { file } = await encode("exact.mov", format, [{ from: "fr", offset }, { from: 1 }]);
    const [encoded, source] = [await samples(file, 0), await samples(clip("exact.mov"), 1)];
    const shift = Math.round(offset * 48_000);
    const expected = shift < 0 ? source.subarray(-shift) : new Int16Array([...new Int16Array(shift), ...source]);
    expect(encoded.length).toBe(expected.length);
    expect(encoded).toEqual(expected);
    expect(await samples(file, 1)).toEqual(await samples(clip("exact.mov"), 0));
  });

  it("takes a track from another file, also in a trimmed output", async () => {
    const url = "http://127.0.0.1:9/french.wav";
    const file = { url, path: clip("french.wav"), probe: await probeSource(tested.ffprobe, clip("french.wav")) };
    const audio = [{ from: "en" }, { url, language: "fr", offset: -0.5 }];
    const request = { format: "mkv:64x36:pcm-s16le", params: { audio, offset: 0.4, duration: 0.4 } };
    const { files, failures } = await encodeClip(clip("listed.mkv"), [request], new Map(), [file]);
    expect(failures).toEqual([]);
    const output = files.get(0)?.[0] ?? "";
    expect(await tracksOf(output)).toMatchObject([
      { language: "eng", channels: 6 },
      { language: "fra", channels: 1, name: "français" },
    ]);
    const part = "atrim=start=0.899:end=1.299,asetpts=PTS-STARTPTS";
    expect(await samples(output, 1)).toEqual(await samples(clip("french.wav"), 0, part));
  });

  it("copies tracks without encoding them", async () => {
    const { file } = await encode("listed.mkv", "mkv:copy:copy", [{ from: 3 }, { from: 1 }]);
    expect((await probe(file)).streams.map(({ codec_type }) => codec_type)).toEqual(["video", "audio", "audio"]);
  });

  it.each([
    [[{ from: "it" }], "input_track_not_found", /lacks audio in the language `it`.*en, de, fr, es/],
    [[{ from: 9 }], "input_track_not_found", /lacks the audio track 9.*4 audio tracks/],
    [[{ from: [1, 9] }], "input_track_not_found", /lacks the audio tracks 1, 9/],
    [[{ from: 3, map: [[1, 1]] }], "input_track_not_found", /gains for 2 channels, but the audio track has 1/],
    [[{ from: 4 }], "input_codec_not_supported", /cannot be decoded/],
  ])("fails for the tracks %j with %s", async (audio, code, message) => {
    const { failures } = await encode("listed.mkv", "mkv", audio);
    expect(failures).toMatchObject([{ failure: { code, message: expect.stringMatching(message) } }]);
  });

  it("leaves out optional tracks that the source lacks, with a note", async () => {
    const audio = [{ from: "it", optional: true, default: true }, { from: 4, optional: true }, { from: "fr" }];
    const { file, note } = await encode("listed.mkv", "mp4", audio);
    expect(await tracksOf(file)).toMatchObject([{ language: "fra", is: ["default", "comment"] }]);
    expect(note).toBe("The input lacks audio in the language `it`, the audio track 4, so this output lacks it, too.");
  });

  it("writes video without audio if all tracks are optional and missing", async () => {
    const { file } = await encode("listed.mkv", "mp4", [{ from: "it", optional: true }]);
    expect(await tracksOf(file)).toEqual([]);
  });

  it("encodes in two passes with several tracks", async () => {
    const { file, failures } = await encode("mono.mxf", "mp4:64x36::2pass", [{ from: [1, 2] }, { from: 3 }]);
    expect(failures).toEqual([]);
    expect(await tracksOf(file)).toHaveLength(2);
  });
});
