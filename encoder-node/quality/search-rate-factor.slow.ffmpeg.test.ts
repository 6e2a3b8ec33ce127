// Searches the rate factors of real encodes. The frames of their sources are easily paired wrongly.
import { readdir, rm } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import type { TargetMetadata } from "#shared/job/quality-target.ts";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import { isEncodedVideo } from "#shared/plan/outputs/plan-file.ts";
import { chooseTracks } from "#shared/plan/source/source-tracks.ts";
import { planSample, planSearch, type SearchedVideo, sampleFile } from "#shared/plan/vmaf/plan-probes.ts";
import { specOf } from "#shared/testing/output-specs.ts";
import { fileFolder } from "../../test/fixtures.ts";
import { runCommand } from "../ffmpeg/run-command.ts";
import { probeSource } from "../source/probe/probe-source.ts";
import { decode, makeClip, REFERENCE_FFMPEG, tested } from "../testing/plan-runs.ts";
import { silentLog } from "../testing/silent-log.ts";
import { clipsOfFile } from "../testing/workshop-of-file.ts";
import { searchRateFactors } from "./search-rate-factor.ts";

const X264 = "-c:v libx264 -preset ultrafast -qp 0";
const GRAIN = (rate: string): string => `-f lavfi -i testsrc2=s=320x180:r=${rate}:d=6,noise=alls=6:allf=t`;
const CLIPS: Readonly<Record<string, string>> = {
  "ntsc.mp4": `${GRAIN("30000/1001")} ${X264} -bf 2 -g 40`,
  "vfr.mkv": `${GRAIN("25")} -vf select='gt(mod(n\\,7)\\,2)' -fps_mode passthrough ${X264}`,
  "rotated.mp4": "-display_rotation -90 -i ntsc.mp4 -c copy",
};

const folder = fileFolder();
clipsOfFile(folder, CLIPS);

function videoOf(format: string): SearchedVideo {
  const output = specOf({ format }, 0);
  if (output.type !== "video" || !output.video || !isEncodedVideo(output.video)) throw new Error("No video is encoded");
  return { output, video: output.video };
}

async function search(clip: string, ...formats: string[]): Promise<TargetMetadata[]> {
  const source = path.join(folder, clip);
  const probe = await probeSource(tested.ffprobe, source);
  const tracks = chooseTracks(probe);
  const range = { fromMs: 0, toMs: tracks.video?.durationMs ?? 0 };
  return await searchRateFactors(
    { source, tracks, videos: formats.map(videoOf), range },
    {
      folder,
      capabilities: { ...ALL_SOFTWARE, hardware: null, ffmpegVersion: "n7", cpus: 2 },
      log: silentLog,
      signal: new AbortController().signal,
      run: async ({ argv }, cwd, reads) => {
        const result = await runCommand({ path: REFERENCE_FFMPEG, argv, cwd, reads, stallMs: 60_000 });
        expect(result).toEqual({ ok: true });
        return result.ok;
      },
    },
  );
}

test.each([
  ["ntsc.mp4", "mp4:::quality=vmaf90"],
  ["ntsc.mp4", "webm:vp9_15fps::quality=vmaf97"],
  ["vfr.mkv", "mkv:hevc_160x::quality=vmaf85"],
  ["rotated.mp4", "mp4:::quality=vmaf95"],
  ["ntsc.mp4", "mkv:av1::quality=vmaf96"],
])(
  "finds a rate factor of %s for %s",
  async (clip, format) => {
    const [report] = await search(clip, format);
    const target = report?.vmaf ?? 0;
    // Encoders with whole rate factors do not always come nearer.
    expect(["met", "step", "limit"]).toContain(report?.ended);
    expect(report?.samples?.harmonic_mean).toBeGreaterThan(target - 1);
    expect(report?.samples?.percentile_1).toBeLessThan(target + 6);
    expect(report?.samples?.frames).toBeGreaterThan(5);
    expect(await readdir(folder)).toEqual(Object.keys(CLIPS).toSorted());
  },
  120_000,
);

test("gives up where a maximum bitrate leaves nothing to gain", async () => {
  const [report] = await search("ntsc.mp4", "mp4:::quality=vmaf97,maxrate=150k");
  expect(["no_gain", "best", "limit"]).toContain(report?.ended);
  expect(report?.tried.length).toBeLessThan(5);
});

test("starts the search for the next rendition at the rate factor of the previous rendition", async () => {
  const [first, second] = await search("ntsc.mp4", "mp4:::quality=vmaf90", "mp4:160x::quality=vmaf90");
  expect(first?.ended).toBe("met");
  expect(second?.tried[0]?.rate_factor).toBe(first?.rate_factor);
});

const SAMPLED = "-f lavfi -i testsrc2=s=64x64:r=25:d=12 -bf 0";
test.each([
  ["at the keyframe before", "-g 50", "mp4", 150],
  ["as early as it may, where keyframes are rare", "-g 1000", "mp4", 100],
  ["at the next keyframe in MPEG-TS, where seeking lands anywhere", "-g 50", "ts", 200],
])(
  "keeps the frames of a sample %s",
  async (_, gop, extension, frame) => {
    const name = `sampled.${extension}`;
    await makeClip(folder, name, `${SAMPLED} ${X264} ${gop}`);
    const source = path.join(folder, name);
    const tracks = chooseTracks(await probeSource(tested.ffprobe, source));
    const planned = planSearch(videoOf("mp4:::quality=vmaf85"), "q0", tracks, ALL_SOFTWARE);
    if (!planned.ok) throw new Error(planned.error.message);
    const window = { fromMs: 7000, lengthMs: 1000, earlierMs: 3000 };
    const { argv } = planSample([planned.value], 0, window, { inputs: { source }, tracks });
    expect(await runCommand({ path: REFERENCE_FFMPEG, argv, cwd: folder, reads: [source], stallMs: 60_000 })).toEqual({
      ok: true,
    });
    const sample = path.join(folder, sampleFile("q0", 0));
    const expected = `trim=start_frame=${frame}:end_frame=${frame + 25}`;
    const sampled = await decode(sample, "null", "yuv420p");
    expect(sampled.equals(await decode(source, expected, "yuv420p"))).toBe(true);
    await Promise.all([source, sample].map((file) => rm(file)));
  },
  60_000,
);
