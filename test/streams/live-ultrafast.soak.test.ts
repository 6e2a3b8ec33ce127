// Plays a stream while several nodes encode its chunks, even when the node that joins the chunks is killed.
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { TaskList, type TaskView } from "#shared/api/task-responses.ts";
import { openPlayback } from "../players/play.ts";
import { complaintsOf, type PlayReport, shiftOf } from "../players/play-report.ts";
import { TIME_BITS } from "../players/time-code.ts";
import { type Live, type LiveSystem, startLiveSystem } from "./live-system.ts";
import { makeStreamClip, STREAM_CLIPS } from "./stream-clips.ts";

const CLIP = "long.mp4";
const { seconds: SECONDS } = STREAM_CLIPS[CLIP];
/** Speed of each of two nodes: together much faster than playback. */
const SPEED = 2;

let system: LiveSystem;

beforeAll(async () => {
  system = await startLiveSystem(SPEED, { runs: "chunks", nodes: 2 });
});
afterAll(() => system?.stop());

const tasksOf = async (id: string): Promise<TaskList> =>
  TaskList.parse((await system.stack.request("GET", `/jobs/${id}/tasks`)).body);
const chunksLeft = (tasks: readonly TaskView[]): number =>
  tasks.filter(({ kind, status }) => kind === "chunk" && status !== "completed").length;

/** Submits the job, and waits until its stream can be played. */
async function startJob(path: string): Promise<{ id: string; live: Live }> {
  const source = await makeStreamClip(CLIP, system.folder);
  const { id } = await system.stack.submit({
    input: { url: system.sources.urlOf(source) },
    outputs: {
      httpstream: {
        path,
        hls: { path: "ts" },
        dash: { path: "fmp4" },
        live_playlist: true,
        segment_duration: 2,
        variants: ["mp4:240p", "mp4:x90"],
      },
    },
    settings: { ultrafast: true },
  });
  const live = await vi.waitFor(
    async () => {
      const output = await system.outputOf(id);
      if (!output.live) throw new Error(`Not playable yet: ${output.status}`);
      return output.live;
    },
    { timeout: 120_000, interval: 100 },
  );
  expect(chunksLeft((await tasksOf(id)).tasks)).toBeGreaterThan(0);
  return { id, live };
}

it("plays from its start while later chunks are encoded, and to its end without a reload", async () => {
  const { id, live } = await startJob("played");
  const play = async (url: string): Promise<PlayReport> => {
    const player = await openPlayback(system.browser, system.site, url);
    await player.playTo(0.5);
    expect(chunksLeft((await tasksOf(id)).tasks)).toBeGreaterThan(0);
    // Each step has a time limit.
    for (const time of [20, 40, 60]) await player.playTo(time);
    await player.playTo(Number.POSITIVE_INFINITY);
    for (const time of [3.1, SECONDS - 0.5]) expect(Math.abs((await player.seek(time)).time - time)).toBeLessThan(0.2);
    const report = await player.report();
    await player.close();
    return report;
  };
  const reports = await Promise.all([live.hls, live.dash].map(play));
  const period = 2 ** TIME_BITS / 1000;
  for (const report of reports) {
    const { frames, buffered } = report;
    const [first] = frames;
    expect(first?.code).toBeLessThan(0.2);
    const shift = shiftOf(report);
    const late = frames.filter(({ time, code }) => {
      const off = (time - shift - (code ?? Number.NaN) + period / 2) % period;
      return !(Math.abs(off - period / 2) <= 0.003);
    });
    expect(late).toEqual([]);
    expect(complaintsOf(report)).toEqual([]);
    expect(buffered).toHaveLength(1);
  }
  expect(await system.stack.waitForJob(id)).toMatchObject({ status: "job.completed" });
  expect(await system.outputOf(id)).not.toHaveProperty("live");
});

it("completes a playable stream although the node that joins the chunks is killed", async () => {
  const { id, live } = await startJob("killed");
  const { tasks } = await tasksOf(id);
  const joining = tasks.find(({ kind, status }) => kind === "join" && status === "running");
  const pid = system.stack.pids().nodes[Number(joining?.node?.split("-")[1]) - 1];
  if (pid === undefined) throw new Error(`No node joins: ${JSON.stringify(tasks)}`);
  process.kill(pid, "SIGKILL");
  expect((await system.stack.waitForJob(id)).status).toBe("job.completed");
  const { attempts } = await tasksOf(id);
  expect(attempts.filter(({ task }) => task.startsWith("join"))).toMatchObject([
    { outcome: "lost" },
    { outcome: "completed" },
  ]);
  const listOf = async (url: string): Promise<string[]> => (await (await fetch(url)).text()).split("\n");
  const variants = (await listOf(live.hls)).filter((line) => /^[^#].*m3u8$/.test(line));
  expect(variants).toHaveLength(2);
  for (const variant of variants) {
    const list = await listOf(new URL(variant, live.hls).href);
    expect(list).toContain("#EXT-X-ENDLIST");
    const seconds = list.flatMap((line) => /^#EXTINF:([\d.]+)/.exec(line)?.[1] ?? []).map(Number);
    expect(seconds.reduce((sum, each) => sum + each, 0)).toBeCloseTo(SECONDS, 0);
    const segments = list
      .filter((line) => line.endsWith(".ts"))
      .map((line) => new URL(line, new URL(variant, live.hls)));
    const stored = await Promise.all(segments.map(async (url) => (await fetch(url, { method: "HEAD" })).status));
    expect(new Set(stored)).toEqual(new Set([200]));
  }
});
