// Searches for the variants of a stream, and for outputs that show parts of their source.
import path from "node:path";
import { beforeAll, expect, it } from "vitest";
import type { Clip } from "#shared/job/clip.ts";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import { withClip } from "#shared/request/clip.ts";
import { parseOutputs } from "#shared/request/outputs/outputs-section.ts";
import { fileFolder } from "../../test/fixtures.ts";
import { makeClip, probeClip, REFERENCE_FFMPEG, tested } from "../testing/plan-runs.ts";
import { silentLog } from "../testing/silent-log.ts";
import { NO_TRACE } from "../tracing/task-trace.ts";
import { CommandLog } from "../workspace/command-log.ts";
import { taskSource } from "../workspace/task-source.ts";
import { findTargets } from "./find-targets.ts";

const folder = fileFolder();
let source = "";
beforeAll(async () => {
  source = path.join(folder, "clip.mp4");
  const clip = "-f lavfi -i testsrc2=s=320x180:r=25:d=8,noise=alls=6:allf=t -c:v libx264 -preset ultrafast -qp 0";
  await makeClip(folder, "clip.mp4", clip);
});

/** Logs the positions at which runs start to read their source, in seconds. */
class SeekLog extends CommandLog {
  readonly seeks: number[] = [];

  override start(argv: readonly string[], cwd: string): ReturnType<CommandLog["start"]> {
    const at = argv.indexOf("-ss");
    if (at >= 0) this.seeks.push(Number(argv[at + 1]));
    return super.start(argv, cwd);
  }
}

type Part = { range?: { fromMs: number; toMs: number }; clip?: Clip };

async function foundFor(requested: object, file = source, { range, clip }: Part = {}) {
  const parsed = parseOutputs(requested, "none");
  if (!parsed.ok) throw new Error(parsed.error.message);
  const clipped = withClip(parsed.value, clip);
  if (!clipped.ok) throw new Error(clipped.error.message);
  const outputs = clipped.value;
  const probe = await probeClip(file);
  const capabilities = { ...ALL_SOFTWARE, hardware: null, ffmpegVersion: "n7", cpus: 2 };
  const commands = new SeekLog();
  const work = { ...taskSource({ source: file, probe, folder }), watermarks: new Map(), ...(range ? { range } : {}) };
  const targets = await findTargets(work, outputs, {
    ffmpeg: { ...tested.ffmpeg, path: REFERENCE_FFMPEG },
    ffprobe: tested.ffprobe,
    log: silentLog,
    workFolder: folder,
    commands,
    trace: NO_TRACE,
    signal: new AbortController().signal,
    capabilities,
  });
  return { outputs, targets, beginsAt: commands.seeks };
}

it("takes its samples from a hard scene of what is encoded, except in chunks", async () => {
  const hard = "noise=alls=60:allf=t:enable=between(t\\,6\\,8)";
  const encode = "-c:v libx264 -preset ultrafast -g 50 -sc_threshold 0";
  await makeClip(folder, "scenes.mp4", `-f lavfi -i testsrc2=s=160x90:r=25:d=12,${hard} ${encode}`);
  const scenes = path.join(folder, "scenes.mp4");
  const outputs = { "mp4:::quality=vmaf80": { path: "/a.mp4" } };
  expect((await foundFor(outputs, scenes)).beginsAt).toEqual([6.02]);
  expect((await foundFor(outputs, scenes, { range: { fromMs: 0, toMs: 12_000 } })).beginsAt).toEqual([5.25]);
  const stream = { path: "/s", variants: ["mp4:::quality=vmaf80"], dash: { path: "dash" } };
  for (const requested of [outputs, { httpstream: stream }]) {
    const { beginsAt } = await foundFor(requested, scenes, { clip: { startMs: 1000, endMs: 5000 } });
    expect(beginsAt.map((seconds) => seconds >= 1 && seconds < 5)).toEqual([true]);
    const toEnd = await foundFor(requested, scenes, { clip: { startMs: 3000, endMs: null } });
    expect(toEnd.beginsAt).toEqual([6.02]);
  }
});

it("searches each video once, and skips videos without a VMAF", async () => {
  const variants = ["mp4:320x::quality=vmaf88", "mp4:320x:64k:quality=vmaf88", "mp4:160x::quality=4"];
  const { outputs, targets } = await foundFor({
    "mp4:::quality=vmaf92": { path: "/a.mp4", offset: 3, duration: 2 },
    "mp4:::quality=4": { path: "/b.mp4" },
    httpstream: { path: "/s", variants, dash: { path: "dash" } },
  });
  const [file, other, stream] = targets.outputs;
  expect(file).toMatchObject({ video: { rate: { vmaf: 92, rateFactor: expect.any(Number) } } });
  expect(other).toBe(outputs[1]);
  if (stream?.type !== "httpstream") throw new Error("No stream");
  const [first, second, third] = stream.variants.map(({ video }) => video?.rate);
  expect(first).toMatchObject({ vmaf: 88, rateFactor: expect.any(Number) });
  expect(second).toEqual(first);
  expect(third).toEqual({ quality: 4, maxrateKbps: null });
  expect([...targets.reports].map(([output, reports]) => [output, reports.length])).toEqual([
    [0, 1],
    [2, 1],
  ]);
  expect(targets.reports.get(0)).toMatchObject([{ vmaf: 92, samples: expect.anything() }]);
});

it("finds variants that save few bits, in streams that drop such variants", async () => {
  const variants = [320, 304, 160].map((width) => `mp4:${width}x::quality=vmaf85`);
  const stream = { variants, hls: { path: "hls" } };
  const { targets } = await foundFor({
    httpstream: [
      { ...stream, path: "/all" },
      { ...stream, path: "/some", drop_similar_variants: true },
    ],
  });
  const dropped = targets.outputs.map((spec) =>
    spec.type === "httpstream" ? spec.dropped?.map(({ track, width, above }) => [track, width, above.track]) : null,
  );
  expect(dropped).toEqual([undefined, [["172p", 304, "180p"]]]);
});
