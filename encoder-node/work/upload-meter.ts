// How far the uploads of a task are, as one figure.
import type { TaskDeps } from "./task-deps.ts";

/** Takes how much of one of them is sent. */
export type Meter = (what: object, sentBytes: number) => void;

/** Turns bytes sent of single things, of `totalBytes` in all, into the stage's progress. */
export function uploadMeter(totalBytes: number, { progress }: Pick<TaskDeps, "progress">): Meter {
  const sent = new Map<object, number>();
  return (what, sentBytes) => {
    sent.set(what, sentBytes);
    const sum = [...sent.values()].reduce((total, bytes) => total + bytes, 0);
    progress("uploading", sum / Math.max(1, totalBytes));
  };
}
