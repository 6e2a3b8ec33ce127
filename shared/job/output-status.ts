// Phases of an output with all allowed transitions, which are the same for all types, and the status of each phase and
// type.

export const OUTPUT_TYPES = ["video", "image", "httpstream"] as const;
export type OutputType = (typeof OUTPUT_TYPES)[number];

export const OUTPUT_PHASES = [
  "waiting",
  "queued",
  "working",
  "packaging",
  "done",
  "failed",
  "skipped",
  "aborted",
] as const;
export type OutputPhase = (typeof OUTPUT_PHASES)[number];

/** `requeue` returns an output to the queue after its node was lost or failed. */
export type OutputMove = "queue" | "start" | "package" | "requeue" | "finish" | "fail" | "skip" | "abort" | "retry";

export const OUTPUT_TABLE = {
  waiting: { queue: "queued", skip: "skipped", fail: "failed", abort: "aborted" },
  queued: { start: "working", finish: "done", skip: "skipped", fail: "failed", abort: "aborted" },
  working: {
    package: "packaging",
    requeue: "queued",
    finish: "done",
    skip: "skipped",
    fail: "failed",
    abort: "aborted",
  },
  packaging: { requeue: "queued", finish: "done", fail: "failed", abort: "aborted" },
  done: {},
  failed: { retry: "waiting" },
  skipped: {},
  aborted: { retry: "waiting" },
} as const satisfies Record<OutputPhase, Partial<Record<OutputMove, OutputPhase>>>;

export const OUTPUT_STATUS = {
  video: {
    waiting: "video.waiting",
    queued: "video.queued",
    working: "video.encoding",
    packaging: "video.encoding",
    done: "video.encoded",
    failed: "video.failed",
    skipped: "video.skipped",
    aborted: "video.aborted",
  },
  image: {
    waiting: "image.waiting",
    queued: "image.queued",
    working: "image.processing",
    packaging: "image.processing",
    done: "image.created",
    failed: "image.failed",
    skipped: "image.skipped",
    aborted: "image.aborted",
  },
  httpstream: {
    waiting: "httpstream.waiting",
    queued: "httpstream.queued",
    working: "httpstream.variants.encoding",
    packaging: "httpstream.packaging",
    done: "httpstream.packaged",
    failed: "httpstream.failed",
    skipped: "httpstream.skipped",
    aborted: "httpstream.aborted",
  },
} as const satisfies Record<OutputType, Record<OutputPhase, `${OutputType}.${string}`>>;

/** True if the output has ended. It can no longer fail, but a client may restart its job. */
export const isTerminalOutput = (phase: OutputPhase): boolean => moveOutput(phase, "fail") === null;

/** Returns the phase after a move; null if the move is not allowed. */
export function moveOutput(from: OutputPhase, move: OutputMove): OutputPhase | null {
  const row: Partial<Record<OutputMove, OutputPhase>> = OUTPUT_TABLE[from];
  return row[move] ?? null;
}
