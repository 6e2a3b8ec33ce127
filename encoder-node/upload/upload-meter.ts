// How far the uploads of a task are, as one figure.
import type { TaskDeps } from "../task/task-deps.ts";

export interface UploadMeter {
  /** So many more bytes are to be sent. */
  expect(bytes: number): void;
  /** How much of one thing is sent so far. */
  note(what: object, sentBytes: number): void;
  /** From now on the task does nothing else: the stage's progress is reported. */
  begin(): void;
}

/** Turns bytes sent of single things into the progress of the stage `uploading`. */
export function uploadMeter({ progress }: Pick<TaskDeps, "progress">): UploadMeter {
  const sent = new Map<object, number>();
  let expected = 0;
  let isOn = false;
  const show = (): void => {
    const sum = [...sent.values()].reduce((total, bytes) => total + bytes, 0);
    if (isOn) progress("uploading", sum / Math.max(1, expected));
  };
  return {
    expect(bytes) {
      expected += bytes;
    },
    note(what, sentBytes) {
      sent.set(what, sentBytes);
      show();
    },
    begin() {
      isOn = true;
      show();
    },
  };
}
