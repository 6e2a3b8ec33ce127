import { expect, it } from "vitest";
import type { JobView, OutputView } from "./job-view.ts";
import { inputPayload, jobPayload, outputPayload } from "./notification.ts";

const OUTPUT: OutputView = {
  key: "mp4",
  type: "video",
  format: "mp4",
  url: "https://example.com/a.mp4",
  status: "video.encoded",
  encoder: "libx264",
};
const JOB: JobView = {
  id: "AAAAAAAAAAAAAA",
  created_at: "2026-11-21 05:23:27 +0000",
  completed_at: null,
  ends_at: null,
  status: "job.completed",
  progress: "100%",
  input: { status: "input.transferred" },
  outputs: [OUTPUT],
  ultrafast: { chunks: 3 },
};
const METADATA = { streams: [], format: {} };

// Some clients compare or log payloads as text.
it.each<[string, object, members: string]>([
  ["input", inputPayload("input.transferred", JOB, { input: METADATA, outputs: [] }), "status progress metadata"],
  [
    "output",
    outputPayload("output.completed", JOB, OUTPUT, METADATA, "50%"),
    "type status progress key url encoder metadata",
  ],
  [
    "failed output",
    outputPayload("output.failed", JOB, { ...OUTPUT, error: "Encoding failed", status: "video.failed" }, null, "50%"),
    "type status progress key url encoder error",
  ],
  [
    "job",
    jobPayload("job.completed", JOB, null),
    "type status progress id created_at completed_at input outputs ultrafast",
  ],
])("the payload of an %s has its fields in the expected order", (_, payload, members) => {
  expect(Object.keys("data" in payload ? Object(payload.data) : {}).join(" ")).toBe(members);
});
