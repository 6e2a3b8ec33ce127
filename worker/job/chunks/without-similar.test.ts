// Streams whose similar variants are left out when their chunks are joined.
import { expect, it } from "vitest";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { ALL, claim, inspected, kindsOf, run, SECONDS, STREAM } from "../../testing/chunked-jobs.ts";
import { newSpec } from "../../testing/jobs.ts";
import type { JobState } from "../state/job-state.ts";

const RATED = {
  ...STREAM,
  variants: ["mp4:720p::quality=vmaf90", "mp4:480p::quality=vmaf90", "mp4:360p::quality=vmaf90"],
};
/** Bytes that the chunks of the three tracks have together. */
const BYTES = [90_000_000, 80_000_000, 20_000_000];

/** What the task of the join has of the stream, after all chunks. */
async function joined(stream: object): Promise<unknown> {
  const spec = await newSpec({ settings: { ultrafast: true }, outputs: { httpstream: stream } });
  const whole = run(inspected(spec), (kind) => kind === "join");
  expect(kindsOf(whole)).toEqual(["join"]);
  const { given } = claim(withBytes(whole));
  const [output] = (given.task as TaskOf<"join">).outputs;
  return output?.type === "httpstream" ? output.dropped : null;
}

const withBytes = (state: JobState): JobState => ({
  ...state,
  chunkResults: Object.fromEntries(
    Object.entries(state.chunkResults).map(([at, result]) => {
      const tracks = result.tracks.map((stored, track): typeof stored => {
        return stored && [stored[0], (BYTES[track] ?? 0) / ALL.length, stored[2]];
      });
      return [at, { ...result, tracks }];
    }),
  ),
});

it.each([
  ["are left out if asked for", { drop_similar_variants: true }, ["480p"]],
  ["stay otherwise", {}, undefined],
])("similar variants %s", async (_, params, expected) => {
  const dropped = await joined({ ...RATED, ...params });
  if (!expected) return expect(dropped).toBeUndefined();
  const kbps = BYTES.map((bytes) => Math.round((bytes * 8) / SECONDS / 1000));
  expect(dropped).toEqual([
    { track: "480p", width: expect.any(Number), height: 480, kbps: kbps[1], above: { track: "720p", kbps: kbps[0] } },
  ]);
});
