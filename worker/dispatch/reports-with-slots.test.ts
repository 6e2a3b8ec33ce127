import { env } from "cloudflare:workers";
import { afterEach, expect, it, vi } from "vitest";
import { JobObject } from "../job/job-object.ts";
import { hubOf } from "../rpc/hub.ts";
import { jobOf } from "../rpc/job.ts";
import { folderOf } from "../testing/chunked-jobs.ts";
import { newSpec, PROBE, videoChunking, videoProbe } from "../testing/jobs.ts";
import { joined, newJob, settle, useNodes } from "../testing/nodes.ts";
import { NodeHub } from "./node-hub.ts";

useNodes();
afterEach(() => {
  vi.restoreAllMocks();
});

const SECONDS = 240;

it("sends the result of an inspection and the claim of the encode to the job in the same turn", async () => {
  const node = await joined("a", { inspect: 1, encode: 1 });
  await newJob();
  const { lease, token, jobId } = (await node.next("assign")).assignment;
  await settle();
  const turn = vi.spyOn(JobObject.prototype, "turn");
  const advertise = vi.spyOn(NodeHub.prototype, "advertise");
  const result = { kind: "inspect", probe: PROBE };
  node.say({ type: "report", id: 1, report: { lease, verb: "complete", body: { token, result } } });
  expect(await node.next("ack")).toMatchObject({ isAccepted: true });
  expect((await node.next("assign")).assignment).toMatchObject({ jobId, kind: "encode" });
  await settle();
  expect([turn, advertise].map(({ mock }) => mock.calls.length)).toEqual([1, 0]);
  expect(await hubOf(env).stats()).toEqual({ nodes: 1, tickets: 0 });
});

it("sends the result of a chunk and the claim of the freed slot to the job in the same turn", async () => {
  const node = await joined("a", { inspect: 1, encode: 2 });
  const spec = await newSpec({ settings: { ultrafast: true }, outputs: { "mp4:240p": { path: "a.mp4" } } });
  await jobOf(env, spec.id).create(spec);
  const { lease, token } = (await node.next("assign")).assignment;
  const chunking = videoChunking(SECONDS, folderOf({ lease: lease }));
  const inspected = { kind: "inspect", probe: videoProbe(SECONDS), chunking };
  node.say({ type: "report", id: 1, report: { lease, verb: "complete", body: { token, result: inspected } } });
  expect(await node.next("ack")).toMatchObject({ isAccepted: true });
  node.say({ type: "slots", offered: { inspect: 1, encode: 0 }, released: [lease] });
  const assigned = [await node.next("assign"), await node.next("assign")].map(({ assignment }) => assignment);
  const chunk = assigned.find(({ kind }) => kind === "chunk");
  if (chunk?.task.kind !== "chunk") throw new Error("no chunk was assigned");
  await settle();
  const turn = vi.spyOn(JobObject.prototype, "turn");
  const { frames } = chunk.task.chunk;
  const track = { output: 0, track: "v", name: `${folderOf({ lease: chunk.lease })}/v.mp4`, sizeBytes: 4, frames };
  const result = { kind: "chunk", tracks: [track], encoder: "libx264 7.0", encodeMs: 1 };
  const report = { lease: chunk.lease, verb: "complete", body: { token: chunk.token, result } };
  const slots = { offered: { inspect: 0, encode: 1 }, released: [chunk.lease], outcome: "done" };
  node.say({ type: "report", id: 2, report, slots });
  expect(await node.next("ack")).toMatchObject({ id: 2, isAccepted: true });
  expect((await node.next("assign")).assignment.kind).toBe("chunk");
  expect(turn).toHaveBeenCalledTimes(1);
});
