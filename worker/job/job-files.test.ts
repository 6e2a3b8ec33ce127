import { describe, expect, it } from "vitest";
import { newSpec, PROBE } from "../test-jobs.ts";
import { fileCount, fileToStore } from "./job-files.ts";
import { newJob } from "./job-state.ts";
import { viewJob } from "./job-view.ts";
import { claimTasks } from "./leases.ts";
import { completeTask } from "./reports.ts";

const NOW = 1_000_000;
const claim = {
  nodeId: "a",
  session: "s",
  slotClass: "inspect",
  max: 1,
  tokens: ["t"],
  sourceUrl: "https://a.example/",
} as const;

it("ends a job none of whose outputs can be made, and says why of each", async () => {
  const spec = await newSpec({
    outputs: {
      "webm:720p": { path: "a.webm" },
      gif: { path: "a.gif" },
      "jpg:100x": { path: "%03d.jpg", interval: 5 },
      httpstream: { hls: { path: "hls" }, dash: { path: "dash", hlsfmp4: true } },
    },
  });
  const { state } = claimTasks(newJob(spec), { ...claim, tokens: [...claim.tokens] }, NOW);
  const ended = completeTask(state, "inspect", { kind: "inspect", probe: PROBE }, NOW);
  const because = (lack: string) => ({
    error: expect.stringContaining(`has no ${lack} yet.`),
    error_code: "encoder_not_available",
  });
  expect(viewJob(ended)).toMatchObject({
    status: "job.failed",
    progress: "100%",
    input: { status: "input.transferred" },
    outputs: [
      { type: "video", status: "video.failed", ...because("webm files") },
      { type: "image", status: "image.failed", ...because("gif images") },
      { type: "image", status: "image.failed", ...because("images by `interval`") },
      { type: "httpstream", status: "httpstream.failed", ...because("HTTP streams") },
    ],
  });
  expect(ended.outbox.map(({ event }) => event).at(-1)).toBe("job.failed");
});

describe("the files of an output", () => {
  it.each<[string, object, [object: string, contentType: string][]]>([
    ["mkv", { path: "a.mkv" }, [["a.mkv", "video/x-matroska"]]],
    ["mkv:x", { path: "a.mka" }, [["a.mka", "audio/x-matroska"]]],
    ["jpg", { path: "a.jpg", number: 9, sprite: true }, [["a.jpg", "image/jpeg"]]],
    [
      "png",
      { path: "s-%d.png", number: 5, sprite: { limit: 3 }, vtt: true },
      [
        ["s-1.png", "image/png"],
        ["s-2.png", "image/png"],
        ["s.vtt", "text/vtt"],
      ],
    ],
  ])("of %s with %j", async (format, params, files) => {
    const state = newJob(await newSpec({ outputs: { [format]: params } }));
    const [output] = state.spec.outputs;
    const count = output ? fileCount(output) : 0;
    const stored = Array.from({ length: count }, (_, at) =>
      fileToStore(state, { output: 0, ordinal: at + 1, sizeBytes: 1 }),
    );
    expect(stored.map(({ objectName, contentType }) => [objectName, contentType])).toEqual(files);
  });
});
