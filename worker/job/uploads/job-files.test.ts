import { describe, expect, it } from "vitest";
import { checkedJob, newSpec, PROBE } from "../../testing/jobs.ts";
import { claimTasks } from "../decide/leases.ts";
import { completeTask } from "../decide/reports.ts";
import type { JobState } from "../state/job-state.ts";
import { viewJob } from "../views/job-view.ts";
import { fileToStore, requiredFiles } from "./job-files.ts";

const NOW = 1_000_000;
const claim = {
  nodeId: "a",
  session: "s",
  slotClass: "inspect",
  max: 1,
  newToken: () => "t",
  sourceUrl: "https://a.example/",
  streamKeys: new Map<number, string>(),
  chunking: null,
} as const;

/** A job whose input was transferred and probed. */
function inspected(spec: Awaited<ReturnType<typeof newSpec>>): JobState {
  const { state } = claimTasks(checkedJob(spec), claim, NOW);
  return completeTask(state, "inspect", { kind: "inspect", probe: PROBE }, NOW);
}

it("ends a job without possible outputs, with the reason for each", async () => {
  const spec = await newSpec({
    outputs: { "jpg:90x": { path: "a.jpg", offsets: [3600] }, "jpg:100x": { path: "%03d.jpg", interval: 0.001 } },
  });
  const ended = inspected(spec);
  const failed = (type: string, code: string, words: string) => ({
    type,
    status: `${type}.failed`,
    error_code: code,
    error: expect.stringContaining(words),
  });
  expect(viewJob(ended)).toMatchObject({
    status: "job.failed",
    progress: "100%",
    input: { status: "input.transferred" },
    outputs: [
      failed("image", "offset_beyond_end", "no frame at 3600 s"),
      failed("image", "output_interval_not_possible", "10010 images"),
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
    // Three images, because the source has ten seconds.
    [
      "jpg",
      { path: "%d.jpg", interval: 4, vtt: { filename: "map.vtt" } },
      [
        ["1.jpg", "image/jpeg"],
        ["2.jpg", "image/jpeg"],
        ["3.jpg", "image/jpeg"],
        ["map.vtt", "text/vtt"],
      ],
    ],
  ])("have the right names and types for %s with %j", async (format, params, files) => {
    const state = inspected(await newSpec({ outputs: { [format]: params } }));
    const [output] = state.spec.outputs;
    const names = output ? requiredFiles(output, state.outputs[0]) : [];
    const stored = names.map((file) => fileToStore(state, { output: 0, file, sizeBytes: 1 }));
    expect(stored.map(({ objectName, contentType }) => [objectName, contentType])).toEqual(files);
  });
});
