import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "undici";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { createLogger } from "#shared/log.ts";
import { Assignment, type NodeFrame, type ProgressItem } from "#shared/protocol/protocol.ts";
import type { Report, Reports } from "../link/reports.ts";
import { createProgressBoard, type ProgressBoard } from "../task/progress.ts";
import { createRangedSources } from "../task/ranged-sources.ts";
import { createSlots } from "../task/slots.ts";
import { createSourceCache } from "../task/source-cache.ts";
import type { TaskDeps } from "../task/task-deps.ts";
import { createUploadSlots } from "../task/upload-slots.ts";
import { createLeases, type Leases } from "./leases.ts";

const log = createLogger({ write: () => undefined, now: Date.now, level: "error" });
const tool = { path: "/nonexistent", version: "7", origin: "env" } as const;
/** Never answers, so that what runs here runs until it is stopped. */
const silent = createServer(() => undefined);
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "copra-leases-"));
  await new Promise<void>((listening) => silent.listen(0, "127.0.0.1", listening));
});
afterAll(async () => {
  silent.closeAllConnections();
  silent.close();
  await rm(folder, { recursive: true, force: true });
});

const assignment = (job: string): Assignment =>
  Assignment.parse({
    lease: `${job.repeat(14)}.inspect.1`,
    token: "t",
    jobId: job.repeat(14),
    task: { kind: "inspect", sourceUrl: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/` },
  });

let frames: NodeFrame[];
let items: ProgressItem[][];
let reported: Report[];
let board: ProgressBoard;
let given: TaskDeps[];
let leases: Leases;
/** One task at a time uploads beside the others. */
const uploads = createUploadSlots(1, async () => true);
function open(reports: Reports): Leases {
  board = createProgressBoard((sent) => items.push(sent));
  return createLeases({
    ...{ slots: createSlots({ inspect: 2, encode: 1 }), uploads, board, reports, log },
    send: (frame) => frames.push(frame),
    taskDeps: (own) => {
      const deps: TaskDeps = {
        ...{ ...own, log, ffmpeg: tool, ffprobe: tool, allowPrivate: "loopback", maxSourceBytes: 1e6 },
        ...{ sources: createSourceCache(folder), workFolder: folder, storages: new Agent() },
        probing: (work) => work(),
        capabilities: { ffmpegVersion: "7", encoders: [], cpus: 1, filters: [], muxers: [], hardware: null },
        rangedSources: createRangedSources(join(folder, "ranged"), "loopback"),
        askUploads: () => Promise.reject(new Error("nothing to upload")),
        askScratch: () => Promise.reject(new Error("nothing to keep")),
      };
      given.push(deps);
      return deps;
    },
  });
}
beforeEach(() => {
  [frames, items, reported, given] = [[], [], [], []];
  leases = open({
    send: async (report) => {
      reported.push(report);
      return true;
    },
    resume: async () => undefined,
  });
});

it("gives back the slot that a second copy of an assignment cost", async () => {
  leases.start(assignment("A"));
  leases.start(assignment("A"));
  expect(frames).toEqual([{ type: "slots", grant: { inspect: 1, encode: 0 }, released: [] }]);
  expect(leases.running()).toHaveLength(1);
  leases.cancel(assignment("A").lease);
  await leases.drain();
});

it("gives the slot back when only uploads are left, to as many tasks as may upload, and releases the lease later", async () => {
  const slots = (encode: number, released: string[] = []) => ({
    ...{ type: "slots", grant: { inspect: encode, encode: 0 }, released },
  });
  leases.start(assignment("A"));
  leases.start(assignment("B"));
  for (const deps of given) deps.encoded();
  await vi.waitFor(() => expect(frames).toEqual([slots(1)]));
  expect(leases.running()).toHaveLength(2);
  leases.cancel(assignment("A").lease);
  // B takes the place of A among those that upload.
  await vi.waitFor(() => expect(frames).toEqual([slots(1), slots(0, [assignment("A").lease]), slots(1)]));
  leases.cancel(assignment("B").lease);
  await leases.drain();
  expect(frames.slice(3)).toEqual([slots(0, [assignment("B").lease])]);
});

it("lets a lease that has ended say nothing more of its progress", async () => {
  leases.start(assignment("A"));
  leases.cancel(assignment("A").lease);
  await vi.waitFor(() => expect(leases.running()).toEqual([]));
  expect(frames).toEqual([{ type: "slots", grant: { inspect: 1, encode: 0 }, released: [assignment("A").lease] }]);
  const before = items.length;
  given[0]?.progress("encoding", 0.5);
  expect(items).toHaveLength(before);
  expect(reported).toEqual([]);
});

it("refuses what comes while it drains, and waits until that is said", async () => {
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
  expect(frames).toEqual([{ type: "slots", grant: { inspect: 0, encode: 0 }, released: [assignment("A").lease] }]);
});

it("goes on when a report cannot be made", async () => {
  leases = open({ send: () => Promise.reject(new Error("no disk")), resume: async () => undefined });
  leases.start(assignment("A"));
  leases.handBack();
  await leases.drain();
  expect(leases.running()).toEqual([]);
});
