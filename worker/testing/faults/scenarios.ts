// The jobs of the fault tests, and the work of their nodes.
import { inject } from "vitest";
import type { ErrorCode } from "#shared/errors.ts";
import type { Task } from "#shared/protocol/tasks.ts";

export type Scenario = {
  readonly name: string;
  /** The job's request, with its outputs below this folder of the bucket. */
  readonly request: (folder: string) => object;
  /** Size of each file. */
  readonly sizeBytes: number;
  /** Length of the source, in seconds. */
  readonly seconds: number;
  /** The kinds of tasks that fail, with their error codes. */
  readonly fails?: Partial<Record<Task["kind"], ErrorCode>>;
  /** True if the client cancels the job while its encode uploads. */
  readonly isCancelled?: boolean;
  /** True if somebody listens to the events of the account. */
  readonly isListened?: boolean;
  /** The job's final status. */
  readonly ends: "job.completed" | "job.failed" | "job.aborted";
};

/** A URL that accepts every notification. */
const encoded = btoa(JSON.stringify({ status: 204 })).replaceAll("=", "");

const request = (outputs: object, changes: object = {}): object => {
  const { endpoint, accessKeyId, secretAccessKey } = inject("s3");
  return {
    input: { url: "https://media.example.com/video.mp4" },
    storage: {
      service: "s3other",
      endpoint,
      bucket: "copra",
      region: "us-east-1",
      force_path_style: true,
      credentials: { access_key_id: accessKeyId, secret_access_key: secretAccessKey },
    },
    notification: { type: "http", url: `${inject("answers")}/${encoded}/hook`, events: true },
    outputs,
    ...changes,
  };
};

const SMALL = { sizeBytes: 700, seconds: 10, ends: "job.completed" } as const;
/** Two parts: the least that is a multipart upload (storage/part-sizes.ts). */
const LARGE_BYTES = 16 * 2 ** 20 + 1;
const video = (folder: string) => ({ "mp4:240p": { path: `${folder}/a.mp4` } });
const several = (folder: string) => ({ ...video(folder), "jpg:320x": { path: `${folder}/%02d.jpg`, number: 2 } });

export const SCENARIOS: readonly Scenario[] = [
  { ...SMALL, name: "video", request: (folder) => request(video(folder)) },
  { ...SMALL, name: "parts", request: (folder) => request(several(folder)), sizeBytes: LARGE_BYTES },
  { ...SMALL, name: "listened", request: (folder) => request(several(folder)), isListened: true },
  {
    ...SMALL,
    name: "stream",
    request: (folder) => request({ httpstream: { path: folder, hls: { path: "hls" }, dash: { path: "dash" } } }),
  },
  {
    ...SMALL,
    name: "chunks",
    request: (folder) => request(video(folder), { settings: { ultrafast: true } }),
    seconds: 240,
  },
  {
    ...SMALL,
    name: "unreadable",
    request: (folder) => request(several(folder)),
    fails: { inspect: "input_not_media" },
    ends: "job.failed",
  },
  {
    ...SMALL,
    name: "failing",
    request: (folder) => request(several(folder)),
    fails: { encode: "encoding_failed" },
    ends: "job.failed",
  },
  {
    ...SMALL,
    name: "unjoined",
    request: (folder) => request(video(folder), { settings: { ultrafast: true } }),
    seconds: 240,
    fails: { audio: "encoding_failed" },
  },
  {
    ...SMALL,
    name: "cancelled",
    request: (folder) => request(several(folder)),
    sizeBytes: LARGE_BYTES,
    isCancelled: true,
    ends: "job.aborted",
  },
];
