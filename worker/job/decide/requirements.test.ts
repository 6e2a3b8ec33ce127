import { beforeAll, describe, expect, it } from "vitest";
import { parseLeaseId } from "#shared/ids.ts";
import { signatureOf } from "#shared/protocol/requirements.ts";
import { checkedJob, newSpec, PROBE } from "../../testing/jobs.ts";
import { offersOf } from "../effects/advertise-effect.ts";
import type { JobState } from "../state/job-state.ts";
import { newTask } from "../state/task-state.ts";
import { viewJob } from "../views/job-view.ts";
import { claimTasks, isOutdated, runnableTasks } from "./leases.ts";
import { waitsFor } from "./requirements.ts";

const NOW = 1_000_000;
let job: JobState;
beforeAll(async () => {
  const outputs = { mp4: { path: "/1.mp4" }, "webm:vp9": { path: "/2.webm" } };
  const spec = await newSpec({ outputs, settings: { queue: "own", priority: -5, require: ["gpu"] } });
  const tasks = [0, 1].map((output) => ({
    ...newTask({ kind: "encode", round: 0, outputs: [output] }),
    id: `encode-${output}`,
  }));
  const { input, ...state } = checkedJob(spec);
  job = { ...state, input: { ...input, probe: PROBE }, tasks };
});
const offers = (state: JobState, now: number) => offersOf(state, "encode", runnableTasks(state, "encode"), now);
const request = (signature?: string) => ({
  nodeId: "a",
  session: "s",
  slotClass: "encode" as const,
  max: 2,
  newToken: String,
  sourceUrl: "",
  chunking: null,
  ...(signature === undefined ? {} : { signature }),
});
const claim = (state: JobState, signature?: string) =>
  claimTasks(state, request(signature) as unknown as Parameters<typeof claimTasks>[1], NOW).assignments.map(
    ({ lease }) => parseLeaseId(lease)?.task,
  );

describe("tasks with different requirements", () => {
  it("are offered and claimed separately", () => {
    const [h264, vp9] = offers(job, NOW).map(({ requirements }) => requirements);
    expect(offers(job, NOW).map(({ count }) => count)).toEqual([1, 1]);
    if (!h264 || !vp9) throw new Error("There are two offers");
    expect([h264, vp9].map(({ needs }) => needs.some(({ anyOf }) => anyOf.includes("libvpx-vp9")))).toEqual([
      false,
      true,
    ]);
    expect(claim(job, signatureOf(vp9))).toEqual(["encode-1"]);
    expect(claim(job)).toEqual(["encode-0", "encode-1"]);
  });

  it("are advertised again if a claim has requirements that no task has", () => {
    const [first] = offers(job, NOW).map(({ requirements }) => requirements);
    if (!first) throw new Error("There is an offer");
    expect(isOutdated(job, request(signatureOf(first)))).toBe(false);
    expect(isOutdated(job, request(signatureOf({ ...first, pool: "other" })))).toBe(true);
    expect(isOutdated({ ...job, tasks: [] }, request(signatureOf(first)))).toBe(false);
  });
});

describe("waiting work", () => {
  it("shows the requirement that no node meets, until a node claims the work", () => {
    const waiting = waitsFor(job, "encode", "a node with label gpu in pool own");
    expect(viewJob(waiting).waiting_for).toBe("a node with label gpu in pool own");
    expect(viewJob(waitsFor(waiting, "encode", null)).waiting_for).toBeUndefined();
    expect(viewJob({ ...waiting, status: "job.failed" }).waiting_for).toBeUndefined();
  });

  it("names the nodes that failed by their own fault, and avoids machines that may go after two losses", () => {
    const [task] = job.tasks;
    if (!task) throw new Error("There is a task");
    const failed = { ...task, avoid: ["a", "b"], blamed: ["b"], losses: 2 };
    expect(offers({ ...job, tasks: [failed] }, NOW)).toMatchObject([
      { avoid: ["a", "b"], blamed: ["b"], steady: true },
    ]);
  });
});
