// The progress of all uploads of a task, as a single fraction.

export interface UploadMeter {
  /** Adds bytes that are to be sent. */
  expect(bytes: number): void;
  /** Sets the number of sent bytes of `item`. */
  update(item: object, sentBytes: number): void;
  /** Starts to report: from now on, the task only uploads. */
  start(): void;
}

/** `onProgress` receives the sent fraction of all expected bytes. */
export function createUploadMeter(onProgress: (fraction: number) => void): UploadMeter {
  const sent = new Map<object, number>();
  let expected = 0;
  let isStarted = false;
  const report = (): void => {
    const sum = [...sent.values()].reduce((total, bytes) => total + bytes, 0);
    if (isStarted) onProgress(sum / Math.max(1, expected));
  };
  return {
    expect(bytes) {
      expected += bytes;
    },
    update(item, sentBytes) {
      sent.set(item, sentBytes);
      report();
    },
    start() {
      isStarted = true;
      report();
    },
  };
}
