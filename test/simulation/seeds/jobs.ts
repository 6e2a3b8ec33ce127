// The jobs of a seeded run, of all kinds. Each has its client's actions and its allowed ends.
import type { Assignment } from "#shared/protocol/tasks.ts";
import { SEGMENT_S, type Workload } from "../work.ts";

export type Ending = "job.completed" | "job.failed" | "job.aborted";

export type PlannedJob = {
  readonly kind: string;
  readonly body: object;
  /** The folder of its files, below the bucket, with a folder for each output. */
  readonly folder: string;
  /** Number of segments of each output, by its index. */
  readonly segments: readonly number[];
  readonly workload: Workload;
  /** The tasks that fail, if the workload fails. */
  readonly failing: Assignment["kind"];
  readonly submittedAfterMs: number;
  /** Time from its submission to its cancellation by the client; null: never. */
  readonly cancelledAfterMs: number | null;
  /** The allowed ends if nothing is lost. */
  readonly endings: readonly Ending[];
};

const MINUTE_MS = 60_000;

type Kind = {
  readonly outputs: object;
  readonly settings?: object;
  readonly seconds: number;
  /** The tasks of this kind fail. */
  readonly fails?: { readonly task: Assignment["kind"]; readonly code: string; readonly message: string };
  readonly ends?: Ending;
};

export const KINDS: Readonly<Record<string, Kind>> = {
  "video and image": { outputs: { "mp4:720p": { path: "a.mp4" }, "jpg:320x": { path: "a.jpg" } }, seconds: 60 },
  "many outputs": {
    outputs: {
      "mp4:1080p": { path: "a.mp4" },
      "mp4:480p": { path: "b.mp4" },
      "webm:480p": { path: "c.webm" },
      "jpg:320x": { path: "%02d.jpg", number: 5 },
      "mp4:240p": { path: "e.mp4" },
    },
    seconds: 120,
  },
  stream: {
    outputs: { httpstream: { path: "s", hls: { path: "hls" }, variants: ["mp4:720p", "mp4:240p"] } },
    seconds: 60,
  },
  chunks: { outputs: { "mp4:1080p": { path: "a.mp4" } }, settings: { ultrafast: true }, seconds: 600 },
  "chunks of two videos": {
    outputs: { "mp4:1080p": { path: "a.mp4" }, "mp4:480p": { path: "b.mp4" } },
    settings: { ultrafast: true },
    seconds: 300,
  },
  "no media": {
    outputs: { "mp4:720p": { path: "a.mp4" } },
    seconds: 60,
    fails: { task: "inspect", code: "input_not_media", message: "The source is no media file" },
    ends: "job.failed",
  },
  "failing encode": {
    outputs: { "mp4:720p": { path: "a.mp4" }, "jpg:320x": { path: "a.jpg" } },
    seconds: 60,
    fails: { task: "encode", code: "encoding_failed", message: "ffmpeg failed" },
    ends: "job.failed",
  },
  // The output is encoded in one piece.
  "chunks without audio": {
    outputs: { "mp4:720p": { path: "a.mp4" } },
    settings: { ultrafast: true },
    seconds: 300,
    fails: { task: "audio", code: "encoding_failed", message: "ffmpeg failed" },
  },
};

/** Files of 300 MB need several requests (parts of 100 MB), files of 8 MB a single request. */
export const SIZES = [8_000_000, 300_000_000];

/** Draws a job. */
export function drawJob(number: number, random: () => number): PlannedJob {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(items.length * random())] as Item;
  const kind = pick(Object.keys(KINDS));
  const cancelledAfterMs = random() < 0.15 ? 2 * MINUTE_MS * random() : null;
  const times = {
    fetchMs: 500 + 5000 * random(),
    encodeMs: 2000 + 90_000 * random(),
    chunkMs: 2000 + 30_000 * random(),
    joinMs: 1000 + 10_000 * random(),
  };
  const job = jobOf(kind, number, { ...times, videoBytes: pick(SIZES) });
  return {
    ...job,
    submittedAfterMs: 3 * MINUTE_MS * random(),
    cancelledAfterMs,
    endings: cancelledAfterMs === null ? job.endings : [...job.endings, "job.aborted"],
  };
}

/** A job of a kind that is submitted at once. Its number separates its files from other jobs' files. */
export function jobOf(kind: string, number: number, times: Omit<Workload, "seconds" | "fails">): PlannedJob {
  const { outputs, settings, seconds, fails, ends = "job.completed" } = KINDS[kind] as Kind;
  return {
    kind,
    folder: `job-${number}`,
    segments: segmentsOf(outputs, seconds),
    body: {
      outputs: inFolder(outputs, `job-${number}`),
      ...(settings ? { settings } : {}),
      input: { url: `https://media.example.com/job-${number}.mp4` },
    },
    workload: { ...times, seconds, ...(fails ? { fails: { code: fails.code, message: fails.message } } : {}) },
    failing: fails?.task ?? "inspect",
    submittedAfterMs: 0,
    cancelledAfterMs: null,
    endings: [ends],
  };
}

const segmentsOf = (outputs: object, seconds: number): number[] =>
  Object.values(outputs).map(({ variants = [] }: { variants?: readonly string[] }) => {
    return variants.length * Math.ceil(seconds / SEGMENT_S);
  });

/** Paths below a folder of the job. */
const inFolder = (outputs: object, folder: string): object =>
  Object.fromEntries(
    Object.entries(outputs).map(([format, output], index) => {
      return [format, { ...(output as object), path: `${folder}/${index}/${(output as { path: string }).path}` }];
    }),
  );
