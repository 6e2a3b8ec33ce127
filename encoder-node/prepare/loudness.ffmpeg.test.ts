// The parameter `loudness`, measured again by another implementation of ITU-R BS.1770.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import { planAudio } from "#shared/plan/tasks/plan-audio.ts";
import { planEncode } from "#shared/plan/tasks/plan-encode.ts";
import { type OutputOptions, specOf } from "#shared/testing/output-specs.ts";
import { fileFolder } from "../../test/fixtures.ts";
import { RunFiles } from "../run-files/run-files.ts";
import { integratedLoudness, truePeak } from "../testing/bs1770.ts";
import { few, inSoak, SLOW } from "../testing/few.ts";
import { makeClip, probeClip, REFERENCE_FFMPEG, tested } from "../testing/plan-runs.ts";
import { silentLog } from "../testing/silent-log.ts";
import { NO_TRACE } from "../tracing/task-trace.ts";
import { CommandLog } from "../workspace/command-log.ts";
import { runAll } from "../workspace/run-planned.ts";
import { taskSource } from "../workspace/task-source.ts";
import { findGains } from "./find-gains.ts";

const tone = (db: number, seconds: number): string => `sine=f=997:r=48000:d=${seconds},volume=${db + 18.06}dB`;
const STEREO = "-ac 2 -c:a pcm_f32le";
/** Consecutive tones on both channels, in dBFS and seconds. */
const tones = (...parts: readonly (readonly [db: number, seconds: number])[]): string => {
  const inputs = parts
    .map(([db, seconds]) => `-f lavfi -i ${tone(db, seconds)},aformat=channel_layouts=mono`)
    .join(" ");
  const labels = parts.map((_, at) => `[${at}]`).join("");
  return `${inputs} -filter_complex ${labels}concat=n=${parts.length}:v=0:a=1,pan=stereo|c0=c0|c1=c0 -c:a pcm_f32le`;
};
const SPEECH = "anoisesrc=c=pink:r=48000:d=12:seed=7:a=0.25,tremolo=f=0.4:d=0.8";
/** Short bursts at full scale in quiet audio: a limiter changes its loudness. */
const PEAKS =
  "anoisesrc=c=pink:r=48000:d=12:seed=3:a=0.9,volume=volume=if(lt(mod(t\\,1)\\,0.02)\\,1\\,0.15):eval=frame";

/** The samples are 3 dB below the peaks. */
const BETWEEN = "0.5*sin(2*PI*12000*t+PI/4)*min(1\\,20*min(t\\,3-t))";

const CLIPS: Readonly<Record<string, string>> = {
  // EBU Tech 3341, test cases 1 to 6, most of them shorter, and 16: true peaks between samples.
  "tech1.wav": tones([-23, 8]),
  "tech2.wav": tones([-33, 8]),
  "tech3.wav": tones([-36, 4], [-23, 24], [-36, 4]),
  "tech4.wav": tones([-72, 2], [-36, 2], [-23, 20], [-36, 2], [-72, 2]),
  "tech5.wav": tones([-26, 8], [-20, 8.04], [-26, 8]),
  "tech16.wav": `-f lavfi -i aevalsrc=${BETWEEN}|${BETWEEN}:c=stereo:s=48000:d=3 -c:a pcm_f32le`,
  // EBU Tech 3342, test cases 1 and 4.
  "range1.wav": tones([-20, 20], [-30, 20]),
  "range4.wav": tones([-50, 20], [-35, 20], [-20, 20], [-35, 20], [-50, 20]),
  "two-seconds.wav": `-f lavfi -i ${SPEECH},atrim=end=2 ${STEREO}`,
  "tech6.wav": `-f lavfi -i ${tone(0, 8)} -filter_complex pan=5.1|c0=0.0398*c0|c1=0.0398*c0|c2=0.0631*c0|c4=0.0316*c0|c5=0.0316*c0 -c:a pcm_f32le`,
  "speech.wav": `-f lavfi -i ${SPEECH} ${STEREO}`,
  "peaks.wav": `-f lavfi -i ${PEAKS} ${STEREO}`,
  "quiet.wav": `-f lavfi -i ${SPEECH},volume=-50dB ${STEREO}`,
  "glitches.wav": `-f lavfi -i aevalsrc=gt(random(0)\\,0.98)*(2*random(1)-1)*gte(mod(t\\,0.5)\\,0.25):s=48000:d=8 ${STEREO}`,
  "faint.wav": `-f lavfi -i ${tone(-50, 4)} ${STEREO}`,
  "brief.wav": `-f lavfi -i ${tone(-18, 0.25)} ${STEREO}`,
  "short.wav": `-f lavfi -i sine=d=0.05:r=48000 ${STEREO}`,
  "silence.wav": `-f lavfi -i anullsrc=r=48000:d=3 ${STEREO}`,
  "video.mkv": `-f lavfi -i testsrc2=s=64x36:r=25:d=12 -f lavfi -i ${SPEECH} -c:v libx264 -c:a flac -ac 2`,
};

const folder = fileFolder();
/** Path of a clip. Makes the clip if it does not exist. */
async function clipAt(name: string): Promise<string> {
  const file = path.join(folder, name);
  const arguments_ = CLIPS[name];
  if (arguments_ !== undefined && !existsSync(file)) await makeClip(folder, name, arguments_);
  return file;
}

const run = promisify(execFile);

/** The samples of a file's audio, by channel, at 48 kHz. */
async function samplesOf(file: string, channels: number, part: readonly string[] = []): Promise<Float32Array[]> {
  const argv = ["-v", "error", ...part, "-i", file, "-map", "0:a:0", "-ar", "48000", "-f", "f32le", "-"];
  const { stdout } = await run(REFERENCE_FFMPEG, argv, { encoding: "buffer", maxBuffer: 2 ** 28 });
  const all = new Float32Array(stdout.buffer.slice(stdout.byteOffset, stdout.byteOffset + stdout.byteLength));
  return Array.from({ length: channels }, (_, channel) =>
    new Float32Array(all.length / channels).map((_, at) => all[at * channels + channel] ?? 0),
  );
}

type Leveled = { readonly outputs: readonly OutputSpec[]; readonly probe: MediaProbe };

const depsOf = (commands: CommandLog) => ({
  ffmpeg: tested.ffmpeg,
  log: silentLog,
  workFolder: folder,
  commands,
  trace: NO_TRACE,
  signal: new AbortController().signal,
  capabilities: { ...ALL_SOFTWARE, hardware: null, ffmpegVersion: "n7", cpus: 2 },
});

/** Encodes outputs with the gains that were found. */
async function encoded(clip: string, requests: readonly OutputOptions[]) {
  const source = await clipAt(clip);
  const commands = new (class extends CommandLog {
    sourceReads = 0;
    override start(...values: Parameters<CommandLog["start"]>): ReturnType<CommandLog["start"]> {
      if (values[0].join(" ").includes(`${source} -map 0:0 -af`)) this.sourceReads++;
      return super.start(...values);
    }
  })();
  const probe = await probeClip(source);
  const deps = depsOf(commands);
  const gains = await findGains(taskSource({ source, probe, folder }), requests.map(specOf), deps);
  const measurements = commands.sourceReads;
  const leveled: Leveled = { outputs: gains.outputs, probe };
  const files: string[] = [];
  for (const command of planEncode({ source, probe, outputs: leveled.outputs, capabilities: ALL_SOFTWARE }).commands) {
    const runFiles = await RunFiles.create(folder);
    expect(await runAll(command.runs, runFiles, () => undefined, { ...deps, reads: [source] })).toBeNull();
    for (const output of command.outputs) files[output.output] = runFiles.pathOf(output.files[0] ?? "");
  }
  return { reports: gains.reports, files, measurements, source, ...leveled };
}

const audio = (format: string, loudness: unknown, params: object = {}): OutputOptions => ({
  format,
  params: { loudness, ...params },
});

describe("loudness: measure", () => {
  few(5).each<[string, number, number]>([
    ["tech1.wav", 2, -23],
    ["tech2.wav", 2, -33],
    ["tech3.wav", 2, -23],
    ["tech4.wav", 2, -23],
    ["tech6.wav", 6, -23],
    ["tech5.wav", 2, -23],
  ])("finds the loudness that EBU Tech 3341 states for %s", async (clip, channels, expected) => {
    const { reports, files } = await encoded(clip, [audio("wav", "measure")]);
    const [report] = reports.get(0) ?? [];
    expect(report).toMatchObject({ gain_db: 0, limited_seconds: 0 });
    expect(Math.abs((report?.input.integrated ?? 0) - expected)).toBeLessThanOrEqual(0.1);
    expect(Math.abs(integratedLoudness(await samplesOf(files[0] ?? "", channels)) - expected)).toBeLessThanOrEqual(0.1);
  });
});

few(0).each<[string, number]>([
  ["range1.wav", 10],
  ["range4.wav", 15],
])("finds the loudness range that EBU Tech 3342 states for %s", async (clip, expected) => {
  const { reports } = await encoded(clip, [audio("wav", "measure")]);
  expect(Math.abs((reports.get(0)?.[0]?.input.range ?? 0) - expected)).toBeLessThanOrEqual(1);
});

it("finds true peaks between samples, as EBU Tech 3341 states", async () => {
  const { reports } = await encoded("tech16.wav", [audio("wav", "measure")]);
  const peak = reports.get(0)?.[0]?.input.true_peak ?? 0;
  expect([peak > -6.4, peak < -5.8]).toEqual([true, true]);
});

describe("loudness with a target", () => {
  it("reaches the target in two seconds of audio", async () => {
    const { files } = await encoded("two-seconds.wav", [audio("m4a", -23)]);
    expect(Math.abs(integratedLoudness(await samplesOf(files[0] ?? "", 2)) + 23)).toBeLessThanOrEqual(0.2);
  });

  it("reaches the target in long audio, by one gain", SLOW, async () => {
    const seconds = inSoak(180, 12) * 60;
    // A quiet start, and loud parts at the end.
    const levels = `volume=0.02+0.2*gte(t\\,${seconds / 1.5}):eval=frame`;
    const noise = `anoisesrc=c=pink:r=48000:d=${seconds}:seed=5,${levels}`;
    await makeClip(folder, "long.flac", `-f lavfi -i ${noise} -ac 1 -c:a flac`);
    const { reports, files } = await encoded("long.flac", [audio("flac", -23)]);
    const [report] = reports.get(0) ?? [];
    expect(report).toMatchObject({ limited_seconds: 0, output: { integrated: expect.closeTo(-23, 0) } });
    const part = (from: number) => ["-ss", String(from), "-t", "60"];
    for (const from of [0, seconds / 2, seconds - 100]) {
      const [before] = await samplesOf(path.join(folder, "long.flac"), 1, part(from));
      const [after] = await samplesOf(files[0] ?? "", 1, part(from));
      const factor = 10 ** ((report?.gain_db ?? 0) / 20);
      const worst = before?.reduce((most, pcm, at) => Math.max(most, Math.abs(pcm * factor - (after?.[at] ?? 9))), 0);
      expect(worst).toBeLessThan(2 / 2 ** 15);
    }
  });

  it("applies one gain to all samples when the peaks allow it", async () => {
    const { reports, files, source, measurements } = await encoded("speech.wav", [audio("wav", -30)]);
    const [report] = reports.get(0) ?? [];
    const [before, after] = [await samplesOf(source, 2), await samplesOf(files[0] ?? "", 2)];
    expect(measurements).toBe(1);
    expect(report).toMatchObject({ limited_seconds: 0, output: { integrated: expect.closeTo(-30, 1) } });
    expect(Math.abs(integratedLoudness(after) + 30)).toBeLessThanOrEqual(0.2);
    const factor = 10 ** ((report?.gain_db ?? 0) / 20);
    expect(after[0]?.length).toBe(before[0]?.length);
    // The output has 16 bits per sample.
    const largest = before[0]?.reduce(
      (most, sample, at) => Math.max(most, Math.abs(sample * factor - (after[0]?.[at] ?? 9))),
      0,
    );
    expect(largest).toBeLessThan(2 / 2 ** 15);
  });

  it("limits true peaks, and corrects the gain for the loudness that the limiter removes", async () => {
    const { reports, files } = await encoded("peaks.wav", [audio("flac", { target: -20, true_peak: -3 })]);
    const [report] = reports.get(0) ?? [];
    const after = await samplesOf(files[0] ?? "", 2);
    expect(report?.limited_seconds).toBeGreaterThan(0);
    const peak = truePeak(after);
    expect(peak).toBeLessThanOrEqual(-2.9);
    expect(Math.abs((report?.output.true_peak ?? 0) - peak)).toBeLessThanOrEqual(0.1);
    expect(Math.abs((report?.output.integrated ?? 0) - integratedLoudness(after))).toBeLessThanOrEqual(0.1);
    expect(Math.abs(integratedLoudness(after) + 20)).toBeLessThanOrEqual(0.3);
  });

  it.each([
    ["quiet.wav", /quieter than -60 LUFS/],
    ["silence.wav", /quieter than -60 LUFS/],
    ["brief.wav", /less than 0\.4 s of audio/],
    ["short.wav", /less than 0\.4 s of audio/],
  ])("leaves the loudness of %s unchanged, with a note", async (clip, note) => {
    const { reports } = await encoded(clip, [audio("wav", -16)]);
    expect(reports.get(0)).toEqual([expect.objectContaining({ gain_db: 0, note: expect.stringMatching(note) })]);
  });

  it("states why the loudness misses the target", async () => {
    const { reports } = await encoded("faint.wav", [audio("mp3", -16)]);
    const note = expect.stringMatching(
      /^The loudness misses the target by 1\d\.\d LU, because the gain is at most 20 dB\.$/,
    );
    expect(reports.get(0)).toMatchObject([{ gain_db: 20, note }]);
  });

  it.each(["m4a", "mp3"])("keeps the true peak of the encoded %s below the maximum", async (format) => {
    const { reports, files } = await encoded("glitches.wav", [audio(format, { target: -16, true_peak: -1 })]);
    expect(truePeak(await samplesOf(files[0] ?? "", 2))).toBeLessThanOrEqual(-0.8);
    expect(reports.get(0)?.[0]?.note).toMatch(
      /^The loudness misses the target by \d\.\d LU, because its peaks are limited\.$/,
    );
  });

  it("measures the mix that each output gets, and each mix once", async () => {
    const { reports, files, measurements } = await encoded("tech6.wav", [
      audio("wav:mono", -24),
      audio("m4a:stereo", -24),
      audio("flac", -24),
      audio("mp3:stereo", -24),
    ]);
    expect(measurements).toBe(1);
    expect([...reports.values()].map(([mix]) => mix?.layout)).toEqual(["mono", "stereo", "5.1", "stereo"]);
    for (const [at, channels] of [1, 2, 6, 2].entries()) {
      const loudness = integratedLoudness(await samplesOf(files[at] ?? "", channels));
      expect([at, Math.abs(loudness + 24) <= 0.2]).toEqual([at, true]);
    }
  });

  it("levels only the part of the source that an output shows", async () => {
    const part = { offset: 5, duration: 4 };
    const { files } = await encoded("tech3.wav", [audio("wav", -20, part), audio("wav", -20, { ...part, offset: 0 })]);
    for (const file of files)
      expect(Math.abs(integratedLoudness(await samplesOf(file, 2)) + 20)).toBeLessThanOrEqual(0.2);
  });

  it("levels the audio of videos and streams, and plans the same filters for chunked jobs", async () => {
    const stream = { dash: { path: "dash" }, variants: ["mp4:64x36:64k", "mp4:x:32k_mono"] };
    const requests = [audio("mp4:64x36", -18), audio("httpstream", -18, stream)];
    const { reports, files, source, probe, outputs } = await encoded("video.mkv", requests);
    expect(reports.get(1)?.map(({ layout }) => layout)).toEqual(["stereo", "mono"]);
    expect(Math.abs(integratedLoudness(await samplesOf(files[0] ?? "", 2)) + 18)).toBeLessThanOrEqual(0.2);
    const filtersOf = (argv: readonly string[]): string[] => argv.filter((_, at) => argv[at - 1] === "-af");
    const whole = planEncode({ source, probe, outputs, capabilities: ALL_SOFTWARE }).commands;
    const apart = planAudio({ source, probe, outputs, capabilities: ALL_SOFTWARE }).command?.runs ?? [];
    const filters = apart.flatMap(({ argv }) => filtersOf(argv));
    expect(filters).toEqual([expect.stringContaining("volume="), ...filters.slice(1)]);
    expect(filters).toEqual(whole.flatMap(({ runs }) => runs).flatMap(({ argv }) => filtersOf(argv)));
  });
});
