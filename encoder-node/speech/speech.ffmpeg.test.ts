// Captions from speech, from the audio of a source to stored playlists and files.
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorTraits } from "#shared/errors.ts";
import type { OutputOptions } from "#shared/testing/output-specs.ts";
import { writeText } from "../run-files/open-file.ts";
import { RunFiles } from "../run-files/run-files.ts";
import { cuesIn, objectIn, openSubtitleJobs, type SubtitleJobs } from "../testing/jobs/subtitle-jobs.ts";
import { counted, realEngine, stubEngine } from "../testing/processes/speech-engines.ts";
import { silentLog } from "../testing/silent-log.ts";
import { engineLimits, openEngine, runEngine, type SpeechEngine } from "./engine.ts";

let jobs: SubtitleJobs;
/** Hears loud audio. */
let hearing: SpeechEngine;
beforeAll(async () => {
  jobs = await openSubtitleJobs();
  hearing = await stubEngine(jobs.folder, { hears: "in" });
  const video = "-f lavfi -i testsrc2=s=64x36:r=10:d=12";
  const tone = (from: number, to: number) => `-f lavfi -i sine=d=${to - from}:r=48000,volume=4`;
  await jobs.make("tone.mp4", `${video} ${tone(0, 12)} -c:v libx264 -c:a aac`);
  await jobs.make("late.mkv", `${video} -itsoffset 2.3 ${tone(0, 3)} -map 0 -map 1 -c:v libx264 -c:a flac`);
  await jobs.make("late.ts", `-i late.mkv -c:v copy -c:a ac3`);
  await jobs.make("surround.mkv", `${video} -itsoffset 2.3 ${tone(0, 3)} -map 0 -map 1 -c:v libx264 -c:a flac -ac:a 6`);
  await jobs.make("silent.mp4", `${video} -c:v libx264`);
});
afterAll(() => jobs.close());

const vtt = (params: object = {}): OutputOptions => ({ format: "vtt", params: { from: "speech", ...params } });
const only = /^0\.1$/;
const stub = async (behavior: Parameters<typeof stubEngine>[1]) => ({
  speech: await stubEngine(jobs.folder, behavior),
});

describe("whisper.cpp", () => {
  it("loads a model, finds the language, and recognizes speech in the sandbox", async () => {
    const speech = await realEngine(jobs.folder, ["Good morning.", "Fish & chips", "(music)"]);
    const { storage, reports } = await jobs.encode("tone.mp4", [vtt()], { speech });
    expect(cuesIn(objectIn(storage, only))).toEqual([
      [0, 5000, "Good morning."],
      [5000, 10_000, "Fish &amp; chips"],
    ]);
    const facts = { model: "ggml-spoken.bin", language: "en", words: 4, seconds: expect.any(Number) };
    expect(reports).toMatchObject([{ status: "made", speech: [facts] }]);
  });

  it.each([
    [
      "a file that is no model",
      "tone.mp4",
      /^--speech .*tone.mp4 does not work. .*: Failed to initialize whisper context\. It must/,
    ],
    ["a file that does not exist", "no.bin", /^The model of --speech cannot be read: ENOENT/],
  ])("a node does not start with %s", async (_, name, message) => {
    await expect(openEngine(join(jobs.folder, name), jobs.folder, silentLog)).rejects.toThrow(message);
  });
});

it.each([
  ["late.mkv", 2300, 5300],
  ["late.ts", 2300, 5300],
  ["surround.mkv", 2300, 5300],
  ["tone.mp4", 0, 7000],
])("captions have the times of the input's clock, and of its mono mix: %s", async (source, from, to) => {
  const { storage, reports } = await jobs.encode(source, [vtt({ language: "de-AT" })], { speech: hearing });
  expect(reports).toMatchObject([{ status: "made" }]);
  const [[start, end, text] = []] = cuesIn(objectIn(storage, only));
  expect(text).toBe("in de");
  expect(Math.abs((start ?? -1000) - from)).toBeLessThanOrEqual(50);
  expect(Math.abs((end ?? -1000) - to)).toBeLessThanOrEqual(50);
});

it("captions of a clip of the input have the times of the clip", async () => {
  const clip = { startMs: 1500, endMs: 4000 };
  const { storage } = await jobs.encode("late.mkv", [{ ...vtt(), clip }], { speech: hearing });
  expect(cuesIn(objectIn(storage, only))).toEqual([[expect.closeTo(800, -2), 2500, "in auto"]]);
});

it("recognizes each language once for all outputs, and announces it as made by a machine", async () => {
  const { engine, runs } = counted(hearing);
  const subtitles = [
    { from: "speech", language: "en", name: "Automatic", default: true },
    { from: "speech", language: "de-AT", kind: "subtitles", shift: 1 },
  ];
  const stream = { hls: { path: "h" }, dash: { path: "d" }, variants: ["mp4:64x36"], subtitles };
  const outputs = [
    { format: "httpstream", params: stream },
    { format: "mp4", params: { subtitles: [{ from: "speech", language: "en" }] } },
    { format: "srt", params: { from: "speech", language: "en" } },
    { format: "jpg:64x", params: { offsets: [3], burn: { from: "speech", language: "en" } } },
  ];
  const { storage, reports } = await jobs.encode("late.mkv", outputs, { speech: engine });
  expect(reports).toMatchObject(outputs.map(() => ({ status: "made" })));
  expect(runs()).toBe(2);
  const media = objectIn(storage, /^h\/master\.m3u8$|^hls\/master\.m3u8$/)
    .split("\n")
    .filter((line) => line.includes("TYPE=SUBTITLES"))
    .map((line) => line.replace(/,URI=.*|^.*GROUP-ID="subtitles",/g, ""));
  const accessible = "public.accessibility.transcribes-spoken-dialog,public.accessibility.describes-music-and-sound";
  expect(media).toEqual([
    `LANGUAGE="en",NAME="Automatic",DEFAULT=YES,AUTOSELECT=YES,FORCED=NO,CHARACTERISTICS="${accessible},public.machine-generated"`,
    'LANGUAGE="de-AT",NAME="Österreichisches Deutsch",DEFAULT=NO,AUTOSELECT=YES,FORCED=NO,CHARACTERISTICS="public.machine-generated"',
  ]);
  expect(await jobs.textsIn(storage, 1, "mp4")).toMatchObject([
    ["mov_text", "eng", "default,hearing_impaired", [[expect.any(Number), expect.any(Number), "in en"]]],
  ]);
  expect(objectIn(storage, /^2\.1$/)).toContain("in en");
  const languages = reports.map((report) => ("speech" in report ? report.speech?.map(({ language }) => language) : []));
  expect(languages).toEqual([["en", "de"], ["en"], ["en"], ["en"]]);
});

it("an input without audio lacks the track, which may be optional", async () => {
  const subtitles = [{ from: "speech", optional: true }];
  const { reports } = await jobs.encode("silent.mp4", [vtt(), { format: "mp4", params: { subtitles } }], {
    speech: hearing,
  });
  const message = "The input has no audio, and so no captions from speech";
  expect(reports).toMatchObject([
    { status: "failed", failure: { code: "input_track_not_found", message: `${message}.` } },
    { status: "made", note: `${message}, so this output lacks it.` },
  ]);
});

it("makes a file without cues, with a note, of music only", async () => {
  const segments = [
    { text: " [Music]", t0: 0, t1: 9000 },
    { text: " ♪ (applause) ♪", t0: 9000, t1: 9500 },
  ];
  const { storage, reports } = await jobs.encode("tone.mp4", [vtt()], await stub({ segments }));
  expect(objectIn(storage, only)).toBe("WEBVTT\n");
  expect(reports).toMatchObject([{ note: "The file has no cue, because its text has none.", speech: [{ words: 0 }] }]);
});

it.each([
  ["times that are negative", { segments: [{ text: "a", t0: -5, t1: 1e9 }] }],
  ["text that is none", { segments: [{ text: 1, t0: 0, t1: 1 }] }],
  ["too much text", { segments: [{ text: "a".repeat(11e6), t0: 0, t1: 1000 }] }],
  ["a crash", { does: "process.abort()" }],
  ["an error", { does: "throw new Error('No')" }],
  ["no end", { does: "process.exit(0)" }],
])("only outputs with speech fail if the engine answers with %s, and may be tried again", async (_, behavior) => {
  const outputs = [vtt(), { format: "jpg:64x", params: { offsets: [1] } }];
  const { reports } = await jobs.encode("tone.mp4", outputs, await stub(behavior));
  expect(reports).toMatchObject([{ status: "failed", failure: { code: "speech_failed" } }, { status: "made" }]);
  expect(errorTraits("speech_failed")).toMatchObject({ blame: "node", retry: "now", scope: "output" });
});

it("keeps hostile text inside of its cues", async () => {
  const text = "a\0b\n\n00:00.000 --> 99:00.000\n<v X>&amp;\u2028next";
  const segments = [
    { text, t0: 5000, t1: 6000 },
    { text: "Earlier.", t0: 1000, t1: 500 },
  ];
  const { storage } = await jobs.encode("tone.mp4", [vtt()], await stub({ segments }));
  expect(cuesIn(objectIn(storage, only))).toEqual([
    [1000, 2000, "Earlier."],
    [5000, 6000, "a b 00:00.000 --&gt; 99:00.000\n&lt;v X&gt;&amp;amp; next"],
  ]);
});

it("the engine sees no other files, and no network", async () => {
  const look = `
    const { readdirSync, existsSync } = require("node:fs");
    const { networkInterfaces } = require("node:os");
    const seen = [existsSync("/etc/passwd"), existsSync("/root"), Object.keys(networkInterfaces()).length];
    this.behavior.segments = [{ text: "Sees " + seen.join(" "), t0: 0, t1: 2000 }];`;
  const { storage } = await jobs.encode("tone.mp4", [vtt()], await stub({ does: look }));
  expect(objectIn(storage, only)).toContain("Sees false false 0");
});

it("stops the engine when nobody needs the work", async () => {
  const useless = new AbortController();
  const { speech } = await stub({ does: "for (;;);" });
  const samples = join(jobs.folder, "abort.pcm");
  await writeText(samples, "\0".repeat(32_000), 0o644);
  const files = await RunFiles.create(jobs.folder);
  const running = runEngine(speech, { samples, language: null, signal: useless.signal }, files);
  useless.abort(new Error("useless"));
  await expect(running).rejects.toThrow("useless");
});

it("limits the engine to 20 times the length of the audio, and its memory by the model", () => {
  const machine = { cpus: 4, memoryBytes: 8 * 2 ** 30, freeBytes: 1e12 };
  const [small, large] = [0, 3e9].map((modelBytes) => engineLimits(600_000, modelBytes, machine));
  expect(small).toMatchObject({ wallMs: 12_120_000, cpuSeconds: 48_480, fileBytes: 10e6 });
  expect((large?.memoryBytes ?? 0) - (small?.memoryBytes ?? 0)).toBe(6e9);
});
