import { expect, it } from "vitest";
import { newJobId } from "#shared/ids.ts";
import type { TaskStage } from "#shared/protocol/frames.ts";
import { ALIVE_EVERY_MS, ProgressRelay } from "./progress-relay.ts";

const JOB = newJobId((count) => new Uint8Array(count));
const LEASE = `${JOB}.encode.1` as never;
const item = (stage: TaskStage, fraction = 0.5, token = "t") => ({ lease: LEASE, token, stage, fraction });
const S = 1000;

it("forwards new stages and periodic signs of life, and each step while somebody follows the job", () => {
  const relay = new ProgressRelay();
  relay.assigned({ lease: LEASE, token: "t", kind: "encode" }, 0);
  const rows: [atS: number, stage: TaskStage, isSent: boolean][] = [
    [1, "transferring", false],
    [9, "encoding", false],
    [26, "transferring", false],
    [40, "encoding", true],
    [55, "encoding", false],
    [40 + ALIVE_EVERY_MS / S - 1, "encoding", false],
    [40 + ALIVE_EVERY_MS / S, "encoding", true],
    [260, "uploading", true],
  ];
  for (const [atS, stage, isSent] of rows) {
    expect(relay.due([item(stage)], atS * S), `${stage} at ${atS} s`).toHaveLength(isSent ? 1 : 0);
  }
  expect(relay.due([item("uploading", 0.7)], 261 * S)).toEqual([]);
  expect(relay.watch(JOB, 360 * S, 265 * S)).toEqual([{ ...item("uploading", 0.7), ageMs: 4 * S }]);
  expect(relay.due([item("uploading", 0.8)], 262 * S)).toHaveLength(1);
  expect(relay.due([item("uploading", 0.819)], 263 * S)).toEqual([]);
  expect(relay.due([item("uploading", 0.83)], 264 * S)).toHaveLength(1);
  expect(relay.due([item("uploading", 0.83)], 268 * S)).toEqual([]);
  expect(relay.due([item("uploading", 0.83)], 269 * S)).toHaveLength(1);
  expect(relay.due([item("uploading", 0.9)], 360 * S)).toEqual([]);
  // The job judges a proof that the relay does not know.
  expect(relay.due([item("uploading", 0.9, "other")], 361 * S)).toHaveLength(1);
});

it("forwards only signs of life of a chunk, unless somebody follows the job", () => {
  const relay = new ProgressRelay();
  relay.assigned({ lease: LEASE, token: "t", kind: "chunk" }, 0);
  const rows: [atS: number, stage: TaskStage, isSent: boolean][] = [
    [15, "encoding", false],
    [26, "encoding", false],
    [45, "uploading", false],
    [ALIVE_EVERY_MS / S, "uploading", true],
  ];
  for (const [atS, stage, isSent] of rows) {
    expect(relay.due([item(stage)], atS * S), `${stage} at ${atS} s`).toHaveLength(isSent ? 1 : 0);
  }
  relay.watch(JOB, 300 * S, 0);
  expect(relay.due([item("uploading", 0.7)], 200 * S)).toHaveLength(1);
  expect(relay.due([item("uploading", 0.8)], 204 * S)).toEqual([]);
  expect(relay.due([item("uploading", 0.8)], 205 * S)).toHaveLength(1);
});

it("reports at once that a stream is playable, but not its playable length", () => {
  const relay = new ProgressRelay();
  relay.assigned({ lease: LEASE, token: "t", kind: "encode" }, 0);
  const live = (count: number, seconds: number) => ({
    ...item("encoding"),
    live: Array.from({ length: count }, (_, output) => ({ output, seconds })),
  });
  expect(relay.due([item("encoding")], 11 * S)).toHaveLength(1);
  expect(relay.due([live(1, 18)], 12 * S)).toEqual([live(1, 18)]);
  expect(relay.due([live(1, 24)], 18 * S)).toEqual([]);
  expect(relay.due([live(2, 24)], 19 * S)).toHaveLength(1);
});

it("restores the known progress of leases after the hub has lost its memory", () => {
  const before = new ProgressRelay();
  before.assigned({ lease: LEASE, token: "t", kind: "encode" }, 0);
  expect(before.due([item("encoding")], 11 * S)).toHaveLength(1);
  const after = new ProgressRelay();
  after.restore(before.knownOf([LEASE, "unknown"]));
  expect(after.due([item("encoding", 0.6)], 26 * S)).toEqual([]);
  expect(after.watch(JOB, 60 * S, 27 * S)).toEqual([{ ...item("encoding", 0.6), ageMs: S }]);
  const followed = new ProgressRelay();
  followed.restore(after.knownOf([LEASE]));
  expect(followed.due([item("encoding", 0.7)], 41 * S)).toHaveLength(1);
});
