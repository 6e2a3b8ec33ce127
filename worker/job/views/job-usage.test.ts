import { expect, it } from "vitest";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { claim, encoding, NOW, useSpec } from "../../testing/job-steps.ts";
import { AUDIO_PROBE, checkedJob, newSpec, PROBE } from "../../testing/jobs.ts";
import { cancelJob, retryJob } from "../decide/client-moves.ts";
import type { JobState, OutputState } from "../state/job-state.ts";
import { endedLeaseMs } from "../state/used.ts";
import { usageOf } from "./job-usage.ts";

useSpec();

const frame = (width: number, height: number): MediaProbe["streams"][0] => ({
  index: 0,
  codec_type: "video",
  codec_name: "h264",
  width,
  height,
});
const video = (width: number, height: number): MediaProbe => ({
  streams: [frame(width, height), ...AUDIO_PROBE.streams],
  format: { duration: "10.500000", size: "1000" },
});
const COVER = { ...frame(3000, 3000), disposition: { attached_pic: 1 } };
const done = (changes: Partial<OutputState>): OutputState => ({
  phase: "done",
  failure: null,
  images: null,
  files: [{ sizeBytes: 5 }],
  probe: null,
  ...changes,
});

it.each<[string, Partial<OutputState>, object]>([
  ["small video as SD", { probe: video(1278, 718) }, { sdMs: 10_500, storedBytes: 5 }],
  ["portrait small video as SD", { probe: video(404, 718) }, { sdMs: 10_500 }],
  ["720 lines as HD", { probe: video(960, 720) }, { hdMs: 10_500 }],
  ["wide video of 1280 pixels as HD", { probe: video(1280, 534) }, { hdMs: 10_500 }],
  ["portrait 1080×1920 as HD", { probe: video(1080, 1920) }, { hdMs: 10_500 }],
  ["more than 1080 lines as UHD", { probe: video(1440, 1082) }, { uhdMs: 10_500 }],
  ["a cover as audio", { probe: { ...AUDIO_PROBE, streams: [...AUDIO_PROBE.streams, COVER] } }, { audioMs: 10_010 }],
  [
    "images as their bytes",
    { images: { frames: 2, files: 2 }, files: [{ sizeBytes: 5 }, { sizeBytes: 6 }], probe: video(1280, 720) },
    { storedBytes: 11 },
  ],
  [
    "each rendition of a stream once, and all its bytes",
    {
      packages: {
        hls: { ...PROBE, format: { ...PROBE.format, size: "300" } },
        dash: {
          streams: [frame(1280, 720), frame(640, 360), ...AUDIO_PROBE.streams],
          format: { duration: "8", size: "500" },
        },
      },
    },
    { hdMs: 8000, sdMs: 8000, storedBytes: 805 },
  ],
  ["an output that failed as nothing", { phase: "failed", probe: video(1280, 720) }, {}],
])("counts %s", async (_, output, expected) => {
  const state: JobState = {
    ...checkedJob(await newSpec()),
    status: "job.completed",
    completedAt: NOW,
    startedAt: 0,
    outputs: [done(output)],
  };
  const none = { audioMs: 0, sdMs: 0, hdMs: 0, uhdMs: 0, storedBytes: expect.any(Number), nodeMs: 0 };
  expect(usageOf(state, NOW)).toMatchObject({ completed: 1, failed: 0, aborted: 0, ...none, ...expected });
});

it("counts each end of a job that is retried", () => {
  const first = cancelJob({ ...encoding(), startedAt: NOW - 500 }, NOW);
  if (!first) throw new Error("It was not cancelled");
  const again = retryJob({ ...first, spec: { ...first.spec, createdAt: NOW - 700 } }, NOW + 1000);
  const second = again && cancelJob(again, NOW + 3000);
  expect(second && usageOf(second, NOW + 9000)).toMatchObject({ completed: 0, aborted: 2, lastedMs: 2500 });
});

it("counts the time of each lease when it ends, however it ends", () => {
  const before = encoding();
  const since = before.tasks.find(({ phase }) => phase === "leased")?.lease?.since ?? 0;
  const cancelled = cancelJob(before, NOW + 700);
  expect(endedLeaseMs(before.tasks, cancelled?.tasks ?? [], since + 700)).toBe(700);
  expect(endedLeaseMs(before.tasks, [], since + 700)).toBe(700);
  expect(endedLeaseMs(before.tasks, structuredClone(before.tasks), since + 700)).toBe(0);
  // The node was lost when the lease expired, and another node has the task.
  const lost = before.tasks.map((task) => ({ ...task, attempt: task.attempt + 1 }));
  expect(endedLeaseMs(before.tasks, lost, since + 10 ** 9)).toBe(15 * 60_000);
  expect(claim(checkedJob(before.spec), "t1").state.used.nodeMs).toBe(0);
});

it("counts the time of a lease once when it expires and its node returns", () => {
  const before = encoding();
  const since = before.tasks.find(({ phase }) => phase === "leased")?.lease?.since ?? 0;
  const expired = before.tasks.map((task) => (task.phase === "leased" ? { ...task, phase: "pending" as const } : task));
  const [lostAt, endedAt] = [since + 700, since + 5000];
  const changes = [
    [before.tasks, expired, lostAt],
    [expired, before.tasks, lostAt],
    [before.tasks, [], endedAt],
  ] as const;
  expect(changes.reduce((sum, [from, to, at]) => sum + endedLeaseMs(from, to, at), 0)).toBe(5000);
});
