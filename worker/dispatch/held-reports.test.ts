import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Assignment } from "#shared/protocol/tasks.ts";
import { JobObject } from "../job/job-object.ts";
import { jobOf } from "../rpc/job.ts";
import { newSpec, videoChunking, videoProbe } from "../testing/jobs.ts";
import { joined, settle, type TestNode, useNodes } from "../testing/nodes.ts";
import { HeldReports } from "./held-reports.ts";

useNodes();
afterEach(() => {
  vi.restoreAllMocks();
});

const SECONDS = 240;

it("holds a report that may wait if another one of its job came shortly before, until one of them is due", () => {
  const held = new HeldReports<string, { node: string; id: number }>();
  const rows: [job: string, node: string, mayWaitMs: number, atMs: number, passed: string[]][] = [
    ["one", "a", 300, 0, ["a"]],
    ["one", "b", 300, 1000, ["b"]],
    ["one", "c", 300, 1600, []],
    ["two", "d", 300, 1600, ["d"]],
    ["one", "e", 300, 1700, []],
    // It may not wait, and takes the others along.
    ["one", "f", 0, 1700, ["c", "e", "f"]],
    ["one", "g", 300, 1800, []],
  ];
  for (const [job, node, mayWaitMs, atMs, passed] of rows) {
    const reports = held.add(job, { node, id: 1 }, mayWaitMs, atMs);
    expect(
      reports.map((report) => report.node),
      `${node} at ${atMs} ms`,
    ).toEqual(passed);
  }
  expect([held.jobsOf("g", 1), held.jobsOf("g"), held.jobsOf("g", 2), held.jobsOf("f")]).toEqual([
    ...[["one"], ["one"], [], []],
  ]);
  expect([held.take("one").map(({ node }) => node), held.take("one")]).toEqual([["g"], []]);
});

it("holds a limited number of reports", () => {
  const held = new HeldReports<number, { node: number; id: number }>();
  const passed = Array.from({ length: 60 }, (_, node) => held.add("one", { node, id: 1 }, 1000, node).length);
  expect(passed.filter((count) => count > 0)).toEqual([1, 50]);
});

describe("results of chunks", () => {
  const slotsOf = ({ lease }: Assignment) => ({
    offered: { inspect: 0, encode: 1 },
    released: [lease],
    outcome: "done",
  });

  function report(node: TestNode, id: number, given: Assignment, more: object): void {
    const { lease, token, task } = given;
    const folder = lease.split(".").slice(1).join("-");
    const frames = task.kind === "chunk" ? task.chunk.frames : 0;
    const track = { output: 0, track: "v", name: `${folder}/v.mp4`, sizeBytes: 4, frames };
    const result = { kind: "chunk", tracks: [track], encoder: "libx264 7.0", encodeMs: 1 };
    node.say({ type: "report", id, report: { lease, verb: "complete", body: { token, result } }, ...more });
  }

  it("and the claims of the slots that they free are one turn, together with those of other nodes", async () => {
    const nodes = [await joined("a", { inspect: 1, encode: 1 }), await joined("b", { inspect: 0, encode: 2 })];
    const [a, b] = nodes as [TestNode, TestNode];
    const spec = await newSpec({ settings: { ultrafast: true }, outputs: { "mp4:240p": { path: "a.mp4" } } });
    await jobOf(env, spec.id).create(spec);
    const { lease, token } = (await a.next("assign")).assignment;
    const chunking = videoChunking(SECONDS, lease.split(".").slice(1).join("-"));
    const result = { kind: "inspect", probe: videoProbe(SECONDS), chunking };
    a.say({ type: "report", id: 1, report: { lease, verb: "complete", body: { token, result } } });
    expect(await a.next("ack")).toMatchObject({ isAccepted: true });
    a.say({ type: "slots", offered: { inspect: 1, encode: 0 }, released: [lease] });
    const tasks: [TestNode, Assignment][] = [];
    for (const node of [a, b, b]) tasks.push([node, (await node.next("assign")).assignment]);
    const [one, two] = tasks.filter(([, { kind }]) => kind === "chunk") as [(typeof tasks)[0], (typeof tasks)[0]];
    await settle();
    const turn = vi.spyOn(JobObject.prototype, "turn");
    report(one[0], 2, one[1], { slots: slotsOf(one[1]) });
    expect(await one[0].next("ack")).toMatchObject({ id: 2, isAccepted: true });
    const next = (await one[0].next("assign")).assignment;
    expect([turn.mock.calls.length, next.kind]).toEqual([1, "chunk"]);
    report(two[0], 3, two[1], { slots: slotsOf(two[1]), mayWaitMs: 1000 });
    report(one[0], 4, next, { slots: slotsOf(next), mayWaitMs: 1000 });
    await settle();
    expect(turn).toHaveBeenCalledTimes(1);
    two[0].say({ type: "due", id: 3 });
    await vi.waitFor(() => expect(turn).toHaveBeenCalledTimes(2));
    const [{ done, want } = { done: [], want: [] }] = turn.mock.calls[1] ?? [];
    expect([done?.length, want.reduce((sum, { max }) => sum + max, 0)]).toEqual([2, 2]);
    for (const [node, id] of [[two[0], 3] as const, [one[0], 4] as const]) {
      expect(await node.next("ack")).toMatchObject({ id, isAccepted: true });
      expect((await node.next("assign")).assignment.kind).toBe("chunk");
    }
    await settle();
    expect(turn).toHaveBeenCalledTimes(2);
  });
});
