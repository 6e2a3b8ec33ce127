import { describe, expect, it } from "vitest";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import {
  ALL,
  claim,
  FAST,
  good,
  inspected,
  joining,
  kindsOf,
  LENGTHS,
  NOW,
  OUTPUTS,
  SECONDS,
  spec,
  upload,
  useChunkedSpec,
} from "../../testing/chunked-jobs.ts";
import { checkedJob, newSpec, videoChunking, videoProbe } from "../../testing/jobs.ts";
import { recordProgress } from "../decide/leases.ts";
import { completeTask } from "../decide/reports.ts";
import type { JobState } from "../state/job-state.ts";
import { ultrafastReceipt } from "../views/chunk-view.ts";
import { viewJob } from "../views/job-view.ts";

useChunkedSpec();

describe("a job in chunks", () => {
  it("leases audio first, then outputs that cannot be made of chunks, then the chunks", () => {
    const state = inspected();
    expect(kindsOf(state)).toEqual(["audio", "encode", ...ALL.map((n) => `chunk-${n}`)]);
    expect(viewJob(state).ultrafast).toEqual({ chunks: ALL.length });
    const audio = claim(state);
    expect(audio.given.task).toMatchObject({ kind: "audio", outputs: [{ index: 0 }, { index: 2 }] });
    const encode = claim(audio.state);
    expect(encode.given.task).toMatchObject({ kind: "encode", outputs: [{ index: 1 }] });
    const chunk = claim(encode.state);
    expect(chunk.given).toMatchObject({
      lease: `${spec.id}.chunk-0.1`,
      task: {
        kind: "chunk",
        outputs: [{ index: 0 }, { index: 2 }],
        encoder: null,
        source: { from: "scratch", pieces: [{ name: "inspect-1/source-1", sizeBytes: 1_000_000 }] },
        chunk: { index: 0, from: null, to: { index: 600, frameUs: 24_000_000 }, frames: 600 },
      },
    });
    expect(kindsOf(chunk.state)).toHaveLength(ALL.length - 1);
  });

  it("is joined when audio and chunks are done, and shows a receipt", () => {
    const state = joining();
    expect(kindsOf(state)).toEqual(["join"]);
    const { given, state: claimed, id } = claim(state, "b");
    const task = given.task as TaskOf<"join">;
    expect(task.chunks.map(({ range, tracks }) => [range.index, range.frames, tracks.length])).toEqual(
      ALL.map((index) => [index, 25 * (LENGTHS[index] ?? 0), 3]),
    );
    expect(task.chunks[3]?.tracks[1]).toEqual({
      output: 2,
      track: "720p",
      name: "chunk-3-1/2-720p.mp4",
      sizeBytes: 7,
      frames: 600,
    });
    expect(task.audio.map(({ name }) => name)).toEqual(["audio-1/0-audio.mp4", "audio-1/2-audio.mp4"]);
    const done = completeTask(upload(claimed, id), id, good(given), NOW);
    expect(viewJob(done)).toMatchObject({ status: "job.completed", ultrafast: { chunks: ALL.length } });
    expect(ultrafastReceipt(done)).toMatchObject({
      frames_planned: 6000,
      frames_joined: 6000,
      largest_error_us: 11,
      av_offset_ms: 4,
      retries: 0,
      encoder: "libx264 7.0",
    });
    const chunk = { frames: 600, seconds: 24, node: "a", attempts: 1, encode_seconds: 5 };
    expect(ultrafastReceipt(done)?.chunks[5]).toEqual(chunk);
  });

  it("shows the progress of its outputs, which never decreases", () => {
    const seen: [string, string][] = [];
    let state = inspected();
    const look = (next: JobState): JobState => {
      const view = viewJob(next);
      seen.push([view.progress, view.outputs[2]?.status ?? ""]);
      state = { ...next, shownPercent: Number.parseInt(view.progress, 10) };
      return state;
    };
    look(state);
    for (let at = 0; at < ALL.length + 3; at++) {
      const { state: claimed, given, id } = claim(state);
      look(claimed);
      for (const stage of ["encoding", "uploading"] as const) {
        const item = { lease: given.lease, token: given.token, stage, fraction: 0.5 };
        look(recordProgress(state, item, NOW).state);
      }
      look(completeTask(upload(state, id), id, good(given), NOW + 1000));
    }
    const percents = seen.map(([percent]) => Number.parseInt(percent, 10));
    expect(percents).toEqual(percents.toSorted((a, b) => a - b));
    expect(new Set(seen.map(([, status]) => status.replace("httpstream.", "")))).toEqual(
      new Set(["queued", "variants.encoding", "packaging", "packaged"]),
    );
    expect(seen.at(-1)).toEqual(["100%", "httpstream.packaged"]);
  });

  it.each<[string, object, object, string]>([
    ["short", {}, { seconds: 60 }, "the input is not longer than a minute."],
    ["only images", { outputs: { "jpg:320x": { path: "a.jpg" } } }, {}, "it consists of images."],
    ["trimmed", { outputs: { "mp4:240p": { path: "a.mp4", duration: 90 } } }, {}, "it is trimmed."],
    [
      "impossible to split",
      {},
      { chunking: { ok: false, reason: "Its keyframes are far apart." } },
      "Its keyframes are far apart.",
    ],
    ["inspected by a node without chunks", {}, { chunking: null }, "does not support chunks"],
    ["stored elsewhere", {}, { chunking: videoChunking(SECONDS, "inspect-2") }, "stored its copy in a folder"],
    ["for one node alone", {}, { slots: 1 }, "there are no two nodes or slots to share it."],
    ["not as long as its frames", {}, { chunking: videoChunking(2 * SECONDS) }, "differs from that of the input."],
    ["not split", {}, { chunking: { ...videoChunking(SECONDS), splitPoints: [] } }, "too few exact split points"],
  ])("is not encoded in chunks if it is %s, and shows the reason", async (_, changes, what, reason) => {
    const state = inspected(await newSpec({ ...FAST, ...changes }), what);
    expect(kindsOf(state)).toEqual(["encode"]);
    expect(viewJob(state).ultrafast).toEqual({ chunks: 0, reason: expect.stringContaining(reason) });
  });

  it.each([
    ["each slot", "mp4:240p", 1280, 6],
    ["each slot but the one that encodes the audio of a small video", "mp4:240p", 320, 5],
    ["each slot when there is no audio", "mp4:240p:x:metadata=0", 320, 6],
  ])("has a chunk for %s", async (_, format, width, chunks) => {
    const { state, id } = claim(checkedJob(await newSpec({ ...FAST, outputs: { [format]: { path: "a.mp4" } } })));
    const probe = videoProbe(180);
    const small = {
      ...probe,
      streams: probe.streams.map((stream) => (stream.width ? { ...stream, width, height: 180 } : stream)),
    };
    const result = { kind: "inspect", probe: small, chunking: videoChunking(180) } as const;
    expect(viewJob(completeTask(state, id, result, NOW, 6)).ultrafast).toEqual({ chunks });
  });

  it("is not encoded in chunks without a scratch bucket, and has `ultrafast` only if requested", async () => {
    const { state, given } = claim(checkedJob(spec), "a", NOW, null);
    expect(given.task).toMatchObject({ chunking: null });
    const result = { kind: "inspect" as const, probe: videoProbe(SECONDS), chunking: videoChunking(SECONDS) };
    expect(viewJob(completeTask(state, "inspect", result, NOW)).ultrafast?.reason).toMatch(/no scratch storage/);
    const plain = inspected(await newSpec({ outputs: OUTPUTS }));
    expect([kindsOf(plain), viewJob(plain)]).toEqual([["encode"], expect.not.objectContaining({ ultrafast: {} })]);
  });

  it.each([
    ["no audio task without audio", "mp4:240p:x:metadata=0", {}, "chunk-0"],
    ["one for the tags of a silent video", "mp4:240p:x", {}, "audio"],
    ["one for the thumbnails of a silent stream", "httpstream", { thumbnails: true }, "audio"],
    ["none for a silent stream", "httpstream", {}, "chunk-0"],
  ])("has %s", async (_, format, more, first) => {
    const stream = { hls: { path: "h" }, variants: ["mp4:240p:x"], ...more };
    const outputs = { [format]: format === "httpstream" ? stream : { path: "a.mp4" } };
    expect(kindsOf(inspected(await newSpec({ ...FAST, outputs })))[0]).toBe(first);
  });
});
