// Lists the groups of real files whose clocks do not start at zero, or whose frames are not in the order of time.
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, expect, it } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { probeSource } from "../source/probe/probe-source.ts";
import { makeClip, tested } from "../testing/plan-runs.ts";
import { silentLog } from "../testing/silent-log.ts";
import { type TaskSource, taskSource } from "../workspace/task-source.ts";
import { readKeyframeGroups } from "./keyframe-groups.ts";

const folder = fileFolder();
beforeAll(async () => {
  const hard = "noise=alls=60:allf=t:enable=between(t\\,4\\,6)";
  const encode = "-t 8 -c:v libx264 -preset ultrafast -bf 2 -g 50 -sc_threshold 0";
  await makeClip(folder, "clip.mp4", `-f lavfi -i testsrc2=s=128x72:r=25,${hard} -f lavfi -i sine ${encode} -c:a aac`);
  for (const name of ["clip.ts", "clip.mkv"]) await makeClip(folder, name, "-i clip.mp4 -c copy");
});

const deps = { ffprobe: tested.ffprobe, log: silentLog, signal: new AbortController().signal };

const sourceOf = async (source: string): Promise<TaskSource> =>
  taskSource({ source, probe: await probeSource(tested.ffprobe, source), folder });

it.each(["clip.mp4", "clip.ts", "clip.mkv"])("%s has a group for each keyframe, with its bytes", async (name) => {
  const file = path.join(folder, name);
  const groups = await readKeyframeGroups(await sourceOf(file), deps);
  expect(groups.map(({ fromMs }) => Math.round(fromMs / 100) / 10)).toEqual(
    [0, 2, 4, 6].map((seconds) => expect.closeTo(seconds, 0)),
  );
  const most = groups.toSorted((a, b) => b.bytes - a.bytes)[0];
  expect(most).toBe(groups[2]);
});

it("puts keyframes that are close to each other in the same group", async () => {
  const file = path.join(folder, "intra.mp4");
  await makeClip(folder, "intra.mp4", "-f lavfi -i testsrc2=s=128x72:r=25 -t 3 -c:v mjpeg");
  const groups = await readKeyframeGroups(await sourceOf(file), deps);
  expect(groups.map(({ fromMs }) => fromMs)).toEqual([0, 520, 1040, 1560, 2080, 2600].map((ms) => expect.closeTo(ms)));
});

it("returns no groups for a file that is not readable or has no video", async () => {
  const file = path.join(folder, "clip.mp4");
  const known = await sourceOf(file);
  const broken = path.join(folder, "broken.mp4");
  await writeFile(broken, "no video");
  for (const missing of [broken, path.join(folder, "missing.mp4")])
    expect(await readKeyframeGroups({ ...known, source: missing }, deps)).toEqual([]);
  const { probe } = known;
  const audio = { ...probe, streams: probe.streams.filter(({ codec_type }) => codec_type === "audio") };
  expect(await readKeyframeGroups(taskSource({ ...known, probe: audio }), deps)).toEqual([]);
  const ended = { ...deps, signal: AbortSignal.abort(new Error("ended")) };
  await expect(readKeyframeGroups(known, ended)).rejects.toThrow("ended");
});
