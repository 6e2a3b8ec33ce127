// Streams whose similar variants are left out when their chunks are joined.
import { expect, it } from "vitest";
import type { DroppedVideo } from "#shared/job/dropped-video.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { ALL, claim, good, inspected, kindsOf, NOW, run, SECONDS, STREAM, sent } from "../../testing/chunked-jobs.ts";
import { newSpec, PROBE } from "../../testing/jobs.ts";
import { completeTask } from "../decide/reports.ts";
import type { JobState } from "../state/job-state.ts";
import { recordUpload } from "../uploads/sign-uploads.ts";
import { viewJob } from "../views/job-view.ts";
import { outputMetadata, payloadOutputMetadata } from "../views/metadata-view.ts";

const RATED = { ...STREAM, variants: ["720p", "480p", "360p"].map((size) => `mp4:${size}::quality=vmaf90`) };
/** Bytes of all chunks of each track. */
const BYTES = [90_000_000, 80_000_000, 20_000_000];
const KBPS = BYTES.map((bytes) => Math.round((bytes * 8) / SECONDS / 1000));

const jobOf = async (stream: object): Promise<JobState> =>
  inspected(await newSpec({ settings: { ultrafast: true }, outputs: { httpstream: stream } }));

/** The join of a job whose chunks are done, as a node gets it. */
function joinOf(state: JobState): ReturnType<typeof claim> {
  const joining = claim(withBytes(state));
  expect(joining.given.task.kind).toBe("join");
  return joining;
}

function droppedIn({ given }: ReturnType<typeof claim>): readonly DroppedVideo[] | undefined {
  const [output] = (given.task as TaskOf<"join">).outputs;
  if (output?.type !== "httpstream") throw new Error("The join has no stream");
  return output.dropped;
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
  const whole = run(await jobOf({ ...RATED, ...params }), (kind) => kind === "join");
  expect(kindsOf(whole)).toEqual(["join"]);
  const dropped = droppedIn(joinOf(whole));
  if (!expected) return expect(dropped).toBeUndefined();
  expect(dropped).toEqual([
    { track: "480p", width: expect.any(Number), height: 480, kbps: KBPS[1], above: { track: "720p", kbps: KBPS[0] } },
  ]);
});

it("similar variants stay if the playlists grow", async () => {
  const job = await jobOf({ ...RATED, drop_similar_variants: true, live_playlist: true });
  expect(droppedIn(joinOf(run(job, (kind) => kind === "join")))).toBeUndefined();
});

it("the job and its metadata name the variants that were left out", async () => {
  const whole = run(await jobOf({ ...RATED, drop_similar_variants: true }), (kind) => kind === "join");
  const joining = joinOf(whole);
  const dropped = [...(droppedIn(joining) ?? [])];
  const note = "Without 480p (2667 kbit/s, 720p has 3000).";
  const playlist = sent(0, "dash/master.mpd");
  const uploaded = recordUpload(joining.state, joining.id, playlist, { sizeBytes: 5, partCount: 1, uploadId: null });
  const report = { status: "made", output: 0, files: [playlist], probe: null, packages: { dash: PROBE } } as const;
  const join = good(joining.given);
  if (join.kind !== "join") throw new Error("Not the report of a join");
  const result = { ...join, outputs: [{ ...report, files: [playlist], dropped, note }] };
  const ended = completeTask(uploaded, joining.id, result, NOW);
  expect(viewJob(ended)).toMatchObject({ status: "job.completed", outputs: [{ note }] });
  expect(outputMetadata(ended, 0)).toMatchObject({ quality: { dropped } });
  expect(payloadOutputMetadata(ended, 0)).toMatchObject({ quality: { dropped } });
});
