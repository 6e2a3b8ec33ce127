// The text of the input in jobs that are encoded in chunks.
import { expect, it } from "vitest";
import { LEASE_MS } from "#shared/protocol/leases.ts";
import type { TaskResult } from "#shared/protocol/reports.ts";
import { ALL, claim, good, inspected, kindsOf, NOW, run, STREAM, statuses, step } from "../../testing/chunked-jobs.ts";
import { newSpec } from "../../testing/jobs.ts";
import { expireLeases } from "../decide/lost-leases.ts";
import { completeTask } from "../decide/reports.ts";
import { requirementsOf } from "../decide/requirements.ts";
import { failTask } from "../decide/task-ends.ts";
import type { JobState } from "../state/job-state.ts";
import { MAX_LOSSES } from "../state/task-state.ts";
import { signScratch } from "../uploads/sign-scratch.ts";
import { viewJob } from "../views/job-view.ts";
import { viewTasks } from "../views/tasks-view.ts";

const BURNT = { path: "b.mp4", burn: { from: "cc1" } };
const TRACKS = { path: "a.mp4", subtitles: [{ from: "cc3" }] };
const PLAIN = { path: "c.mp4" };
async function jobOf(...outputs: object[]): Promise<JobState> {
  return inspected(await newSpec({ settings: { ultrafast: true }, outputs: { "mp4:240p": outputs } }));
}

it("chunks with captions in their frames wait until the text is read, and get it", async () => {
  const job = await jobOf(BURNT, PLAIN);
  expect(kindsOf(job)).toEqual(["texts", "audio"]);
  const { state, given, id } = claim(job);
  expect(given.task).toMatchObject({ kind: "texts", outputs: [{ index: 0 }] });
  expect(kindsOf(step(state, "b"))).toEqual([]);
  const read = completeTask(state, id, good(given), NOW);
  expect(kindsOf(read)).toEqual(["audio", ...ALL.map((at) => `chunk-${at}`)]);
  const chunk = claim(step(read), "c");
  const texts = [{ output: 0, track: "text-1", name: "texts-1/0-text-1.mp4", sizeBytes: 3, frames: null }];
  expect(chunk.given.task).toMatchObject({ kind: "chunk", texts });
  expect(run(read).status).toBe("job.completed");
});

it("other chunks do not wait for text, and the join does", async () => {
  const { state, given, id } = claim(await jobOf(TRACKS, PLAIN));
  expect(given.task).toMatchObject({ kind: "texts", outputs: [{ index: 0 }] });
  const encoded = run(state);
  expect(Object.keys(encoded.chunkResults)).toHaveLength(ALL.length);
  const read = completeTask(encoded, id, good(given), NOW);
  expect(kindsOf(read)).toEqual(["join"]);
  expect(claim(read).given.task).toMatchObject({ kind: "join", texts: [{ track: "text-1" }] });
  const kinds = viewTasks(run(read)).tasks.map(({ kind }) => kind);
  expect(kinds.slice(0, 3)).toEqual(["inspect", "texts", "audio"]);
});

it("a stream is joined early only when its text is read", async () => {
  const httpstream = { ...STREAM, live_playlist: true, subtitles: [{ from: "cc1" }] };
  const { state, given, id } = claim(
    inspected(await newSpec({ settings: { ultrafast: true }, outputs: { httpstream } })),
  );
  const started = step(step(state, "b"), "b");
  expect(Object.keys(started.chunkResults)).toEqual(["0"]);
  expect(kindsOf(started)).not.toContain("join-early");
  expect(kindsOf(completeTask(started, id, good(given), NOW))).toContain("join-early");
});

it("another node reads the text after a loss, and the outputs are encoded in one piece after many", async () => {
  let next = await jobOf(BURNT);
  for (let at = 0; at < MAX_LOSSES; at++) {
    next = expireLeases(claim(next, `n${at}`, NOW + at * LEASE_MS).state, NOW + (at + 1) * LEASE_MS);
    expect(kindsOf(next)[0]).toBe("texts");
  }
  const lost = expireLeases(claim(next, "n", NOW + 9 * LEASE_MS).state, NOW + 10 * LEASE_MS);
  expect([kindsOf(lost), statuses(lost)]).toEqual([["encode-whole"], ["video.queued"]]);
});

it.each<[string, (state: JobState, id: string, result: TaskResult) => JobState]>([
  [
    "The input's video has no closed captions in CC1.",
    (state, id) =>
      failTask(
        state,
        id,
        { code: "input_track_not_found", message: "The input's video has no closed captions in CC1." },
        NOW,
      ),
  ],
  [
    "The text is in a scratch folder that is not the task's own",
    (state, id, result) => {
      const tracks = "tracks" in result ? result.tracks.map((track) => ({ ...track, name: "audio-1/a.vtt" })) : [];
      const report = { ...result, tracks } as TaskResult;
      const once = completeTask(state, id, report, NOW);
      return completeTask(claim(once, "b", NOW + 2000).state, id, report, NOW + 2000);
    },
  ],
])("outputs are encoded in one piece if their text cannot be read: %s", async (message, end) => {
  const { state, given, id } = claim(await jobOf(BURNT));
  const ended = end(state, id, good(given));
  expect(kindsOf(ended)).toEqual(["encode-whole"]);
  const reason = `Encoded in one piece, because its text could not be read: ${message}`;
  expect(viewJob(ended).ultrafast?.reason).toBe(reason);
});

it("nodes may read the text for their tasks, and write only their own", async () => {
  const job = await jobOf(BURNT, TRACKS);
  const store = { put: async (name: string) => name, get: async (name: string) => name } as never;
  const { state, id } = claim(step(job), "b");
  const audio = state.tasks.find((task) => task.id === id);
  const gets = ["texts-1/0-text-1.mp4"];
  const chunking = claim(step(step(job)), "b");
  const chunk = chunking.state.tasks.find((task) => task.id === chunking.id);
  if (!chunk || !audio) throw new Error("No task");
  expect(await signScratch(chunking.state, chunk, { puts: [], gets }, store)).toEqual({ puts: [], gets });
  const puts = [{ name: "texts-1/0-text-1.mp4", sizeBytes: 3 }];
  await expect(signScratch(state, audio, { puts, gets: [] }, store)).rejects.toMatchObject({
    code: "report_not_valid",
  });
});

it("only the task that reads the text needs a node with speech recognition", async () => {
  const job = await jobOf({ path: "a.mp4", subtitles: [{ from: "speech" }] });
  const features = (state: JobState) =>
    state.tasks.map((task) => [task.kind, requirementsOf(state, task).needs.some(({ kind }) => kind === "feature")]);
  const { state } = claim(step(step(job)), "c");
  expect(features(job).slice(1)).toEqual([
    ["texts", true],
    ["audio", false],
  ]);
  expect(features(state)).toContainEqual(["chunk", false]);
});

it("all tasks of such a video need nodes that read and draw text", async () => {
  const job = await jobOf(BURNT);
  const needs = (state: JobState) =>
    state.tasks.map((task) => requirementsOf(state, task).needs.flatMap(({ anyOf }) => anyOf));
  expect(needs(job).slice(1)).toEqual([
    expect.arrayContaining(["webvtt", "subtitles"]),
    expect.arrayContaining(["webvtt", "subtitles"]),
  ]);
});
