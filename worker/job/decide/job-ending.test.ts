import { expect, it } from "vitest";
import { checkedJob, newSpec, PROBE } from "../../testing/jobs.ts";
import type { JobState } from "../state/job-state.ts";
import { endIfDone } from "./job-ending.ts";

const SNS = {
  type: "sns",
  region: "us-east-1",
  topic_arn: "arn:aws:sns:us-east-1:123456789012:videos",
  credentials: { access_key_id: "a", secret_access_key: "b" },
  metadata: true,
};
const HTTP = { type: "http", url: "http://127.0.0.1:9/", metadata: true };
/** 300 images, each with a URL of about 900 characters. */
const IMAGES = {
  outputs: { "jpg:100x": ["a", "b", "c"].map((name) => ({ path: `${name.repeat(880)}-%03d.jpg`, number: 100 })) },
};

/** The payload of `job.completed` for a job whose source has this many characters of tags. */
async function lastBody(notification: unknown, titleChars: number, hasImages: boolean): Promise<string> {
  const spec = await newSpec({ notification, ...(hasImages ? IMAGES : {}) });
  const probe = { ...PROBE, format: { ...PROBE.format, tags: { title: "é".repeat(titleChars) } } };
  const state: JobState = {
    ...checkedJob(spec),
    input: { status: "input.transferred", failure: null, probe },
    outputs: spec.outputs.map(() => ({
      phase: "done",
      failure: null,
      images: hasImages ? { frames: 100, files: 100 } : null,
      files: Array.from({ length: hasImages ? 100 : 1 }, () => ({ sizeBytes: 1 })),
      probe: null,
    })),
  };
  return endIfDone(state, 0).outbox[0]?.body ?? "";
}

it.each([
  ["sns", "a small payload", SNS, 1000, false, { metadata: true, urls: true }],
  ["sns", "metadata of 262,000 bytes in half as many characters", SNS, 131_000, false, { metadata: false, urls: true }],
  ["http", "the same", HTTP, 131_000, false, { metadata: true, urls: true }],
  ["http", "metadata of a million characters", HTTP, 1_000_000, false, { metadata: false, urls: true }],
  ["sns", "270,000 characters of urls", SNS, 10, true, { metadata: false, urls: false }],
  ["http", "the same", HTTP, 10, true, { metadata: true, urls: true }],
] as const)(
  "over %s, %s is sent completely or reduced to the maximum size",
  async (_, __, notification, chars, hasImages, carried) => {
    const body = await lastBody(notification, chars, hasImages);
    const { metadata, data } = JSON.parse(body);
    expect(metadata).toBe(carried.metadata);
    expect("metadata" in data.input).toBe(carried.metadata);
    expect(data.outputs.some((output: object) => "urls" in output)).toBe(carried.urls);
    expect(data.outputs.every(({ status }: { status: string }) => status !== undefined)).toBe(true);
    if (notification.type === "sns") expect(new TextEncoder().encode(body).length).toBeLessThan(256 * 1024);
  },
);

it("records the events of a job that notifies nobody as delivered", async () => {
  const [spec, withReceiver] = await Promise.all([newSpec({ notification: { type: "none" } }), newSpec()]);
  const failed = (spec: Awaited<ReturnType<typeof newSpec>>): JobState => ({
    ...checkedJob(spec),
    input: { status: "input.failed", failure: { code: "input_not_media", message: "No media" }, probe: null },
    outputs: checkedJob(spec).outputs.map((output) => ({ ...output, phase: "failed" })),
  });
  expect(endIfDone(failed(spec), 0).outbox.map(({ event, state }) => [event, state])).toEqual([
    ["job.failed", "delivered"],
  ]);
  expect(endIfDone(failed(withReceiver), 0).outbox.map(({ state }) => state)).toEqual(["due"]);
});
