import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { LeaseId } from "#shared/ids.ts";
import type { ProgressItem, TaskStage } from "#shared/protocol/frames.ts";
import { createProgressBoard, type ProgressBoard } from "./progress.ts";

const A = "AAAAAAAAAAAAAA.encode.1" as LeaseId;
const B = "BBBBBBBBBBBBBB.encode.1" as LeaseId;
const sent: ProgressItem[][] = [];
let board: ProgressBoard;
beforeEach(() => {
  vi.useFakeTimers();
  sent.length = 0;
  board = createProgressBoard((items) => sent.push(items));
});
afterEach(() => {
  board.close();
  vi.useRealTimers();
});
const item = (lease: LeaseId, stage: TaskStage, fraction: number) => ({ lease, token: "t", stage, fraction });

it("sends a new stage at once, and all other progress in one frame per interval", () => {
  board.update(A, "t", "transferring", 0);
  expect(sent).toEqual([[item(A, "transferring", 0)]]);
  board.update(B, "t", "encoding", 0);
  board.update(A, "t", "transferring", 0.2);
  board.update(A, "t", "transferring", 0.4);
  board.update(B, "t", "encoding", 7);
  expect(sent).toHaveLength(2);
  vi.advanceTimersByTime(1000);
  expect(sent[2]).toEqual([item(A, "transferring", 0.4), item(B, "encoding", 1)]);
});

it("sends the encoding speed of ffmpeg", () => {
  board.update(A, "t", "encoding", 0.1, { fps: 48, speed: 2 });
  expect(sent).toEqual([[{ ...item(A, "encoding", 0.1), fps: 48, speed: 2 }]]);
});

it("repeats unchanged progress, which renews the lease, until the lease is removed", () => {
  board.setIntervalMs(500);
  board.update(A, "t", "encoding", 0.5);
  vi.advanceTimersByTime(9_900);
  expect(sent).toHaveLength(1);
  vi.advanceTimersByTime(600);
  expect(sent).toEqual([[item(A, "encoding", 0.5)], [item(A, "encoding", 0.5)]]);
  board.remove(A);
  vi.advanceTimersByTime(60_000);
  expect(sent).toHaveLength(2);
});

it("sends at once that a stream can be played, and its playable length with the next progress", () => {
  board.playable(A, { output: 2, seconds: 1 });
  expect(sent).toEqual([]);
  board.update(A, "t", "encoding", 0.1);
  board.playable(A, { output: 2, seconds: 18 });
  board.playable(A, { output: 3, seconds: 18 });
  board.playable(A, { output: 2, seconds: 24 });
  const live = [
    { output: 2, seconds: 18 },
    { output: 3, seconds: 18 },
  ];
  expect(sent.slice(1)).toEqual([
    [{ ...item(A, "encoding", 0.1), live: live.slice(0, 1) }],
    [{ ...item(A, "encoding", 0.1), live }],
  ]);
  board.update(A, "t", "encoding", 0.2);
  vi.advanceTimersByTime(1000);
  expect(sent.at(-1)).toEqual([{ ...item(A, "encoding", 0.2), live: [live[1], { output: 2, seconds: 24 }] }]);
});
