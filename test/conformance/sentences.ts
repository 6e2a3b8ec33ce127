// The check of each sentence of the contract's text. A sentence is found by its first words.
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import type { Evidence } from "./evidence.ts";
import { live, type Proof, testNamed } from "./proof.ts";

// biome-ignore lint/suspicious/noExplicitAny: the checks read the results as a client would
type Json = any;

/** The check of a sentence; null if there is none. Throws if several checks match. */
export function sentenceProof(sentence: string): Proof | null {
  const matching = SENTENCES.filter(([start]) => sentence.startsWith(start));
  if (matching.length > 1) throw new Error(`Several checks for “${sentence}”`);
  return matching[0]?.[1] ?? null;
}

const A_JOB = "a real job";
const BODY = "the body of a completed job";
const formatsOf = ({ done }: Evidence): string[] => done.outputs.map(({ format }: Json) => format);
const statusOf = ({ done }: Evidence, key: string): string => done.outputs.find((row: Json) => row.key === key)?.status;

const accepted = (by: string): Proof => live(by, ({ created }) => expect(created.status).toBe(201));
const SKIPPED = live("outputs of each type whose condition is false", (evidence) =>
  expect(["mp4:hevc_1080p", "jpg:x100:2", "httpstream:2"].map((key) => statusOf(evidence, key))).toEqual([
    ...["video.skipped", "image.skipped", "httpstream.skipped"],
  ]),
);
const STATUSES = live("a real job, its input and its outputs", ({ done }) => {
  expect([done.status, done.input.status]).toEqual(["job.completed", "input.transferred"]);
  for (const { type, status } of done.outputs) expect(status).toMatch(new RegExp(`^${type}\\.`));
});
const CREATED = live("the response to a creation", ({ created }) => {
  const { outputs, ...job } = created.body as Json;
  expect(job).toMatchObject({ status: "job.starting", progress: "0%", completed_at: null });
  expect(job).toMatchObject({ input: { status: "input.starting" }, id: expect.any(String) });
  for (const output of outputs) expect(output.status).toBe(`${output.type}.waiting`);
});
const METADATA = live("the metadata of a completed job", ({ metadata, done }) => {
  const { job_id, metadata: known } = metadata.body as Json;
  expect([job_id, known.input.streams.length]).toEqual([done.id, 2]);
  const keys = done.outputs.filter(({ status }: Json) => !status.endsWith(".skipped")).map(({ key }: Json) => [key]);
  expect(known.outputs.map((output: object) => Object.keys(output))).toEqual(keys);
});
const ONE_METADATA = live(
  "the metadata of the input, of a key with a colon, and of a default key with its index",
  (all) => {
    const bodies = [all.inputMetadata, all.outputMetadata, all.indexedMetadata].map(({ body }) => body as Json);
    expect(bodies.map(({ job_id }) => job_id)).toEqual(Array(3).fill(all.done.id));
    expect(bodies.map(({ metadata }) => Object.keys(metadata))).toEqual([["input"], ["trailer:short"], ["mp4:240p:1"]]);
    for (const { metadata } of bodies) {
      expect(Object.values(metadata)).toEqual([
        expect.objectContaining({ streams: expect.any(Array), format: expect.any(Object) }),
      ]);
    }
  },
);
const REJECTED = live("requests that must fail", ({ errors }) => {
  for (const code of ["json_not_valid", "input_not_valid", "storage_credentials_not_valid", "outputs_not_valid"]) {
    expect(errors.get(code), code).toMatchObject({ status: 400, body: { error_code: code, status: "error" } });
  }
});
const AUTHENTICATED = live(
  "real requests with the API key, an empty password, and an unknown key",
  ({ created, errors }) => expect([created.status, errors.get("authentication_failed")?.status]).toEqual([201, 401]),
);
const BY_KEY = testNamed("worker/http/auth/auth.test.ts", "%s reads no database row and at most one index entry");
const CONTENT_TYPES = live("all responses", ({ created, read, metadata, inputMetadata, outputMetadata, errors }) => {
  for (const { headers } of [created, read, metadata, inputMetadata, outputMetadata, ...errors.values()]) {
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  }
});
const COMPLETED = live("a completed job", ({ done, read }) => {
  expect(read.status).toBe(200);
  expect(done).toMatchObject({ status: "job.completed", progress: "100%", completed_at: expect.any(String) });
  expect(done.input.status).toBe("input.transferred");
  for (const { type, status, url, urls } of done.outputs) {
    const isMade = !status.endsWith(".skipped");
    expect([typeof url, Array.isArray(urls)]).toEqual([
      isMade && type === "video" ? "string" : "undefined",
      isMade && type !== "video",
    ]);
  }
});
const NOTIFIED = live("a received webhook", ({ events, done }) =>
  expect(events.get("job.completed")).toMatchObject({ event: "job.completed", job_id: done.id }),
);
const ENCODED = testNamed("test/main-job.test.ts", "has the requested outputs");
const CONDITIONS = testNamed("shared/condition/condition.test.ts", "%s is %s");
const FORMATS = testNamed("shared/format/parse-format.test.ts", "reads %s as %s");
const PATHS = live("requests to /v2/jobs, /v1/jobs and /jobs", ({ outside }) =>
  expect(outside).toEqual([404, 404, 200]),
);
const IS_OBJECT = live("requests whose outputs are a list or a text", ({ fields }) => {
  for (const form of ["outputs as a list", "outputs as a text"]) {
    expect(fields.get(form), form).toMatchObject({ status: 400, body: { error_code: "outputs_not_valid" } });
  }
});

const SENTENCES = Object.entries<Proof>({
  "This document covers the whole interface": METADATA,
  "All paths are relative": PATHS,
  "The service is a media encoding service": accepted("a job from a JSON body"),
  "A client submits a job that names": accepted(BODY),
  "The service transfers the input file": ENCODED,
  "Output kinds are": STATUSES,
  "An output may carry a condition": SKIPPED,
  "When the condition evaluates to false": SKIPPED,
  "A job and each of its parts": STATUSES,
  "The Metadata API returns": METADATA,
  "An optional ultrafast mode": testNamed(
    "test/ultrafast.slow.test.ts",
    "a video in chunks equals the video in one piece, although a node and the control plane are killed meanwhile",
  ),
  "The client is notified": NOTIFIED,
  "In the response to job creation the outputs": live("the response to a creation", ({ created }) => {
    for (const output of (created.body as Json).outputs) {
      expect(Object.keys(output)).toEqual(["key", "type", "format", "status"]);
    }
  }),
  "`outputs` is an object.": IS_OBJECT,
  "Each property name is an output specification": accepted(BODY),
  "an object of output parameters": live(BODY, (evidence) =>
    expect(statusOf(evidence, "mp4:240p")).toBe("video.encoded"),
  ),
  "an array of such objects": live(BODY, (evidence) =>
    expect(["jpg:x100:1", "jpg:x100:2"].map((key) => statusOf(evidence, key))).toEqual([
      ...["image.created", "image.skipped"],
    ]),
  ),
  "for the `httpstream` specification": live(BODY, ({ playlists }) => expect(playlists).toHaveLength(3)),
  "Output specification shape": live(BODY, (evidence) =>
    expect(formatsOf(evidence)).toEqual(
      expect.arrayContaining(["httpstream", "mp4:240p", "jpg:::quality=2", "mp4:x120::quality=3"]),
    ),
  ),
  "Formats that occur": live(BODY, (evidence) =>
    expect(new Set(formatsOf(evidence).map((format) => format.split(":")[0]))).toEqual(
      new Set(["mp4", "jpg", "httpstream"]),
    ),
  ),
  "Variants that occur": live(BODY, (evidence) =>
    expect(formatsOf(evidence)).toEqual(expect.arrayContaining(["mp4:240p", "jpg:160x", "jpg:x100", "mp4:hevc_1080p"])),
  ),
  "The parameter `quality` occurs": FORMATS,
  "The `if` parameter is an expression": SKIPPED,
  "Variables are written": CONDITIONS,
  "Operators that occur": CONDITIONS,
  "When the expression is false": SKIPPED,
  "Use: to avoid upscaling": CONDITIONS,
  "A metadata object describes one media file": ONE_METADATA,
  "Statuses are strings": live("a client that followed the events of a job", ({ seen }) => {
    for (const status of seen) expect(status).toMatch(/^(?:job|input|video|image|httpstream)(?:\.[a-z]+)+$/);
  }),
  "A job has a job-level status": STATUSES,
  "Facts about creation": CREATED,
  "All requests carry the authentication": BY_KEY,
  "Request bodies are JSON objects": REJECTED,
  "Responses are JSON with content type": CONTENT_TYPES,
  "Creates a job.": CREATED,
  "Path: fixed": PATHS,
  "Request body: the job creation request": testNamed(
    "worker/http/jobs/jobs.test.ts",
    "rejects a job with %s and the field, and stores nothing",
  ),
  "Success: HTTP 201": CREATED,
  "Failure because of the request": REJECTED,
  "Returns the job.": COMPLETED,
  "Path parameter `jobid`": live(A_JOB, ({ done }) => expect(done.id).toMatch(/^\w{14}$/)),
  "No body.": COMPLETED,
  "Response: a Job object.": COMPLETED,
  "Completed outputs carry": COMPLETED,
  "Returns all metadata of a job": METADATA,
  "Response object: `job_id` (string) and `metadata` (object) with two properties": METADATA,
  "Returns the metadata of one source": ONE_METADATA,
  "Path parameters: `jobid`": ONE_METADATA,
  "Response object: `job_id` (string) and `metadata` (object) with a single": ONE_METADATA,
  "Every request is authenticated": BY_KEY,
  "The username is the account's API key": AUTHENTICATED,
  "The API key is the only credential": AUTHENTICATED,
  "A job carries notification settings": accepted(BODY),
  "The service notifies the client": NOTIFIED,
  "The metadata can also be obtained": live(
    "webhooks of jobs with and without the option",
    ({ doneEvents, plainEvent }) => {
      const isOf = (name: string) => doneEvents.filter(({ event }) => event === name);
      const kinds = isOf("output.completed").map(({ metadata, data }) => [
        ...[data.type, metadata, data.metadata?.streams.length > 0],
      ]);
      expect(new Set(kinds.map(String))).toEqual(
        new Set(["video,true,true", "image,false,false", "httpstream,true,true"]),
      );
      expect(isOf("input.transferred").map(({ data }) => data.metadata.streams.length)).toEqual([2]);
      expect(isOf("job.completed").map(({ data }) => data.input.metadata.streams.length)).toEqual([2]);
      expect([plainEvent.metadata, plainEvent.data.input.metadata]).toEqual([false, undefined]);
    },
  ),
  "A request that is invalid": REJECTED,
  "A failure of processing is not an HTTP error": live(
    "jobs whose input or whose storage fails, and test/failing-outputs.slow.test.ts",
    ({ inputFailed, outputFailed }) => {
      expect([inputFailed.status, inputFailed.input.status]).toEqual(["job.failed", "input.failed"]);
      expect(outputFailed.status).toBe("job.failed");
      const failed = new Set(outputFailed.outputs.map(({ status }: Json) => status));
      expect([...failed]).toEqual(expect.arrayContaining(["video.failed", "image.failed", "httpstream.failed"]));
    },
  ),
  "Ultrafast mode (`settings.ultrafast` true) works only": live(
    "a job of 3 s, and test/ultrafast.slow.test.ts",
    ({ done }) =>
      expect(done.ultrafast).toEqual({ chunks: 0, reason: expect.stringContaining("not longer than a minute") }),
  ),
  "Ultrafast mode is advised": live(
    "the speed-up on six nodes in docs/benchmarks.md, measured by bench/ultrafast.ts",
    () => {
      const figures = readFileSync(new URL("../../docs/benchmarks.md", import.meta.url), "utf8");
      const [, speedUp] = /^\| 6 nodes [^|]*\| [^|]* \| (\d+\.\d+) /m.exec(figures) ?? [];
      // "About five times".
      expect(Math.round(Number(speedUp))).toBeGreaterThanOrEqual(5);
    },
  ),
  "This is version 2 of the interface": PATHS,
});

/** The first words of the sentences that have a check. */
export const CHECKED_SENTENCES: readonly string[] = SENTENCES.map(([start]) => start);
