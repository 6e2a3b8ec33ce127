import { expect, test } from "vitest";
import { canFinish, type WorkDone } from "./finish-in-time.ts";

const NOW = 1_000_000;
const after = (seconds: number, stage: WorkDone["stage"], fraction: number): WorkDone => ({
  stage,
  fraction,
  since: NOW - 1000 * seconds,
});

test.each<[WorkDone, withinSeconds: number, boolean]>([
  [after(60, "encoding", 0.5), 80, true],
  [after(60, "encoding", 0.5), 70, false],
  [after(3600, "encoding", 0.99), 60, true],
  [after(3600, "encoding", 0.9), 120, false],
  [after(1, "encoding", 0), 120, false],
  [after(100, "transferring", 0.9), 120, false],
  [after(1, "uploading", 0), 5, true],
  [after(1, "uploading", 0), 0, false],
])("predicts if %j ends within %d s: %s", (work, seconds, expected) => {
  expect(canFinish(work, NOW + 1000 * seconds, NOW)).toBe(expected);
});
