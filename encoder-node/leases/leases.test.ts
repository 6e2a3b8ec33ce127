import { mkdtemp } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Agent } from "undici";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { NodeFrame, ProgressItem } from "#shared/protocol/frames.ts";
import { Assignment } from "#shared/protocol/tasks.ts";
import { fileFolder, startServer, untilEnd } from "../../test/fixtures.ts";
import type { Report, Reports } from "../link/reports.ts";
import { silentLog } from "../testing/silent-log.ts";
import { NO_TRACE } from "../tracing/task-trace.ts";
import { createProgressBoard, type ProgressBoard } from "../workspace/progress.ts";
import { RangedSources } from "../workspace/ranged-sources.ts";
import { createSlots, UploadSlots } from "../workspace/slots.ts";
import { SourceCache } from "../workspace/source-cache.ts";
import type { TaskDeps } from "../workspace/task-deps.ts";
import { Leases } from "./leases.ts";

const tool = { path: "/nonexistent", version: "7", origin: "env" } as const;
/** Never responds, so that tasks run until they are stopped. */
const silent = untilEnd(await startServer());
const root = fileFolder();
/** A folder for each node: the node of the previous test may still remove files late. */
let folder: string;

const assignment = (job: string): Assignment =>
  Assignment.parse({
    lease: `${job.repeat(14)}.inspect.1`,
    token: "t",
    jobId: job.repeat(14),
    kind: "inspect",
    slotClass: "inspect",
    round: 0,
    task: { kind: "inspect", sourceUrl: `${silent.origin}/`, chunking: null },
  });

let frames: NodeFrame[];
let items: ProgressItem[][];
let reported: Report[];
let board: ProgressBoard;
let startedDeps: TaskDeps[];
let leases: Leases;
/** A single task at a time uploads beside the others. */
const uploads = new UploadSlots(1, async () => true);
function open(reports: Reports): Leases {
  board = createProgressBoard((sent) => items.push(sent));
  return new Leases({
    slots: createSlots({ inspect: 2, encode: 1 }),
    uploads,
    holding: new Set(),
    board,
    reports,
    held: { add: () => undefined, remove: async () => undefined },
    log: silentLog,
    disk: () => null,
    send: (frame) => frames.push(frame),
    taskDeps: (own) => {
      const deps: TaskDeps = {
        ...own,
        trace: NO_TRACE,
        fontsFolder: null,
        speech: null,
        folders: new Map(),
        log: silentLog,
        ffmpeg: tool,
        ffprobe: tool,
        allowPrivate: "loopback",
        allowSource: "loopback",
        service: { allow: "loopback", storages: new Agent() },
        maxSourceBytes: 1e6,
        sources: new SourceCache(folder),
        workFolder: folder,
        storages: new Agent(),
        withProbeSlot: (work) => work(),
        capabilities: { ffmpegVersion: "7", encoders: [], cpus: 1, filters: [], muxers: [], hardware: null },
        rangedSources: new RangedSources(new SourceCache(folder)),
        requestUploads: () => Promise.reject(new Error("no uploads")),
        requestChunks: () => Promise.reject(new Error("no chunks")),
        requestScratch: () => Promise.reject(new Error("no scratch storage")),
      };
      startedDeps.push(deps);
      return deps;
    },
  });
}
beforeEach(async () => {
  folder = await mkdtemp(join(root, "node-"));
  [frames, items, reported, startedDeps] = [[], [], [], []];
  leases = open({
    send: async (report) => {
      reported.push(report);
      return true;
    },
    resume: async () => undefined,
  });
});

it("gives back the slot that a duplicate assignment used", async () => {
  leases.start(assignment("A"));
  leases.start(assignment("A"));
  expect(frames).toEqual([{ type: "slots", offered: { inspect: 1, encode: 0 }, released: [] }]);
  expect(leases.running()).toHaveLength(1);
  leases.cancel(assignment("A").lease);
  await leases.drain();
});

describe("a source at an address that this node refuses", () => {
  const away = createServer((_, response) => response.writeHead(302, { location: "http://10.0.0.1/" }).end());
  beforeAll(() => new Promise<void>((listening) => away.listen(0, "127.0.0.1", listening)));
  afterAll(() => void away.close());
  const redirecting = (): string => `http://127.0.0.1:${(away.address() as AddressInfo).port}/`;

  it.each<[string, string, () => string, Assignment["ownUrls"]]>([
    ["node_failed", "as the control plane has accepted it", () => "http://10.0.0.1/a.mp4", undefined],
    ["node_failed", "behind a URL that the service has signed", redirecting, ["source"]],
    ["input_address_not_allowed", "behind a client's URL", redirecting, undefined],
  ])("fails a refused source with %s %s", async (code, _, urlOf, ownUrls) => {
    const newAssignment = assignment("A");
    const task = { kind: "inspect", sourceUrl: urlOf(), chunking: null } as const;
    leases.start({ ...newAssignment, task, ...(ownUrls && { ownUrls }) });
    await vi.waitFor(() => expect(reported).toMatchObject([{ verb: "fail", body: { failure: { code } } }]));
    await leases.drain();
  });
});

it("gives the slot back when only uploads remain, for a limited number of tasks, and releases the lease later", async () => {
  const slots = (encode: number, released: string[] = []) => ({
    type: "slots",
    offered: { inspect: encode, encode: 0 },
    released,
    ...(released.length > 0 ? { outcome: "cancelled" } : {}),
  });
  leases.start(assignment("A"));
  leases.start(assignment("B"));
  for (const deps of startedDeps) deps.releaseSlot();
  await vi.waitFor(() => expect(frames).toEqual([slots(1)]));
  expect(leases.running()).toHaveLength(2);
  leases.cancel(assignment("A").lease);
  // B takes A's upload slot.
  await vi.waitFor(() => expect(frames).toEqual([slots(1), slots(0, [assignment("A").lease]), slots(1)]));
  leases.cancel(assignment("B").lease);
  await leases.drain();
  expect(frames.slice(3)).toEqual([slots(0, [assignment("B").lease])]);
});

it("shows held outputs as a stage, and gives their slots to other work", async () => {
  leases.start(assignment("A"));
  leases.start(assignment("B"));
  const [held, other] = startedDeps;
  held?.progress("uploading", 0.5);
  held?.releaseSlot();
  await vi.waitFor(() => expect(frames).toHaveLength(1));
  other?.releaseSlot();
  expect(held?.hold?.mayWait()).toBe(true);
  // The other task takes its upload slot.
  await vi.waitFor(() => expect(frames).toHaveLength(2));
  held?.hold?.end();
  held?.progress("uploading", 0.6);
  const stages = items.flat().filter(({ lease }) => lease === assignment("A").lease);
  expect(stages.map(({ stage, fraction }) => [stage, fraction])).toEqual([
    ["transferring", 0],
    ["uploading", 0.5],
    ["holding", 0.5],
    ["uploading", 0.5],
  ]);
  leases.handBack();
  await leases.drain();
});

it("gives the slot back while a task waits for other leases, for a limited number of tasks, and hands the task back at a stop", async () => {
  for (const name of "ABCDEFGHI") leases.start(assignment(name));
  expect(startedDeps.map(({ waiting }) => waiting.begin())).toEqual([...Array(8).fill(true), false]);
  expect(frames).toHaveLength(8);
  // H has everything that it waited for: it ends by itself.
  startedDeps[7]?.waiting.end();
  expect(startedDeps[8]?.waiting.begin()).toBe(true);
  const draining = leases.drain();
  await vi.waitFor(() => expect(leases.running().map(({ lease }) => lease)).toEqual([assignment("H").lease]));
  expect(reported.map(({ body }) => "failure" in body && body.failure.code)).toEqual(Array(8).fill("node_lost"));
  expect(startedDeps[7]?.waiting.begin()).toBe(false);
  leases.handBack();
  await draining;
});

it("ignores progress of a lease that has ended", async () => {
  leases.start(assignment("A"));
  leases.cancel(assignment("A").lease);
  await vi.waitFor(() => expect(leases.running()).toEqual([]));
  const released = { released: [assignment("A").lease], outcome: "cancelled" };
  expect(frames).toEqual([{ type: "slots", offered: { inspect: 1, encode: 0 }, ...released }]);
  const before = items.length;
  startedDeps[0]?.progress("encoding", 0.5);
  expect(items).toHaveLength(before);
  expect(reported).toEqual([]);
});

it("rejects assignments while the node drains, and waits until the rejections are reported", async () => {
  leases.start(assignment("A"));
  const drained = vi.fn();
  const draining = leases.drain().then(drained);
  leases.start(assignment("B"));
  await vi.waitFor(() => expect(reported).toHaveLength(1));
  expect(reported[0]).toMatchObject({
    lease: assignment("B").lease,
    verb: "fail",
    body: { failure: { code: "node_lost" } },
  });
  expect(drained).not.toHaveBeenCalled();
  leases.handBack();
  await draining;
  expect(reported[1]).toMatchObject({ lease: assignment("A").lease, body: { failure: { code: "node_lost" } } });
  const released = { released: [assignment("A").lease], outcome: "returned" };
  expect(frames).toEqual([{ type: "slots", offered: { inspect: 0, encode: 0 }, ...released }]);
});

it("hands back work at once that cannot end before the machine is taken away, and finishes the other work", async () => {
  leases.start(assignment("A"));
  leases.start(assignment("B"));
  await vi.waitFor(() => expect(startedDeps).toHaveLength(2));
  startedDeps[1]?.progress("uploading", 0);
  const draining = leases.drain(60_000);
  const lost = { body: { failure: { code: "node_lost" } } };
  await vi.waitFor(() => expect(reported).toMatchObject([{ lease: assignment("A").lease, ...lost }]));
  expect(leases.running()).toMatchObject([{ lease: assignment("B").lease }]);
  // The task becomes slow: work that falls behind is handed back later.
  startedDeps[1]?.progress("encoding", 0.01);
  await vi.waitFor(() => expect(reported).toHaveLength(2));
  expect(reported[1]).toMatchObject({ lease: assignment("B").lease, ...lost });
  await draining;
});

it("leases continue when a report fails", async () => {
  leases = open({ send: () => Promise.reject(new Error("no disk")), resume: async () => undefined });
  leases.start(assignment("A"));
  leases.handBack();
  await leases.drain();
  expect(leases.running()).toEqual([]);
});
