// Searches the rate factors of real encodes, of sources whose frames are easily paired wrongly.
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import { isEncodedVideo } from "#shared/plan/plan-file.ts";
import { chooseTracks } from "#shared/plan/source/source-tracks.ts";
import { specOf } from "#shared/testing/output-specs.ts";
import { runCommand } from "../ffmpeg/run-command.ts";
import { probeSource } from "../source/probe/probe-source.ts";
import { makeClip, REFERENCE_FFMPEG, tested } from "../testing/plan-runs.ts";
import { silentLog } from "../testing/silent-log.ts";
import { searchRateFactors } from "./search-rate-factor.ts";

const X264 = "-c:v libx264 -preset ultrafast -qp 0";
const GRAIN = (rate: string): string => `-f lavfi -i testsrc2=s=320x180:r=${rate}:d=6,noise=alls=6:allf=t`;
const CLIPS: Readonly<Record<string, string>> = {
  "ntsc.mp4": `${GRAIN("30000/1001")} ${X264} -bf 2 -g 40`,
  "vfr.mkv": `${GRAIN("25")} -vf select='gt(mod(n\\,7)\\,2)' -fps_mode passthrough ${X264}`,
  "rotated.mp4": "-display_rotation -90 -i ntsc.mp4 -c copy",
};

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "search-"));
  for (const [name, argv] of Object.entries(CLIPS)) await makeClip(folder, name, argv);
}, 60_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

async function search(clip: string, format: string) {
  const source = path.join(folder, clip);
  const probe = await probeSource(tested.ffprobe, source);
  const output = specOf({ format }, 0);
  if (output.type !== "video" || !output.video || !isEncodedVideo(output.video)) throw new Error("No video is encoded");
  const range = { fromMs: 0, toMs: chooseTracks(probe).video?.durationMs ?? 0 };
  const [report] = await searchRateFactors(
    { source, probe, videos: [{ output, video: output.video }], range },
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
  return report;
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
    const report = await search(clip, format);
    const target = report?.vmaf ?? 0;
    // Encoders with whole rate factors do not always come nearer.
    expect(["met", "step", "limit"]).toContain(report?.stopped);
    expect(report?.measured?.harmonicMean).toBeGreaterThan(target - 1);
    expect(report?.measured?.percentile1).toBeLessThan(target + 6);
    expect(report?.measured?.frames).toBeGreaterThan(5);
    expect(await readdir(folder)).toEqual(Object.keys(CLIPS).toSorted());
  },
  120_000,
);

test("gives up where a maximum bitrate leaves nothing to gain", async () => {
  const report = await search("ntsc.mp4", "mp4:::quality=vmaf97,maxrate=150k");
  expect(["no_gain", "best", "limit"]).toContain(report?.stopped);
  expect(report?.tried.length).toBeLessThan(5);
}, 120_000);
