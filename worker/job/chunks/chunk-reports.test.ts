import { describe, expect, it } from "vitest";
import { leaseId } from "#shared/ids.ts";
import type { ChunkBoundaryCheck } from "#shared/protocol/chunks.ts";
import { LEASE_MS } from "#shared/protocol/leases.ts";
import type { OutputReport, TaskResult } from "#shared/protocol/reports.ts";
import type { Assignment, TaskOf } from "#shared/protocol/tasks.ts";
import {
  ALL,
  allBut,
  BOUNDARIES,
  claim,
  good,
  inspected,
  joining,
  kindsOf,
  madeReport,
  NOW,
  run,
  statuses,
  step,
  upload,
  useChunkedSpec,
} from "../../testing/chunked-jobs.ts";
import { renewLease } from "../decide/leases.ts";
import { expireLeases } from "../decide/lost-leases.ts";
import { completeTask } from "../decide/reports.ts";
import { failTask } from "../decide/task-ends.ts";
import { checkLease } from "../state/check-lease.ts";
import { MAX_LOSSES } from "../state/task-state.ts";
import { ultrafastReceipt } from "../views/chunk-view.ts";
import { viewJob } from "../views/job-view.ts";

useChunkedSpec();

describe("a chunk", () => {
  /** A job with a finished chunk, and with a chunk that a node works on. */
  function chunking() {
    const first = run(inspected(), (kind) => kind === "chunk");
    return claim(step(first), "b");
  }
  const other = (given: Assignment, change: (track: object) => object): TaskResult => {
    const result = good(given) as TaskResult & { kind: "chunk" };
    return { ...result, tracks: result.tracks.map(change) as never };
  };

  it("is done once, however often it is reported", () => {
    const { state, given, id } = chunking();
    const proof = { lease: given.lease, token: given.token };
    const done = completeTask(state, id, good(given), NOW + 5);
    expect(done.tasks.find((task) => task.id === id)).toBeUndefined();
    expect(checkLease(done, proof).verdict).toBe("repeat");
    expect(checkLease(done, { ...proof, token: "wrong" }).verdict).toBe("superseded");
    expect(checkLease(done, { ...proof, lease: leaseId(given.jobId, id, 2) }).verdict).toBe("superseded");
    expect(renewLease(done, proof, NOW).verdict).toBe("repeat");
  });

  it.each<[string, (given: Assignment) => TaskResult]>([
    ["a missing frame", (given) => good(given, { frames: 899 })],
    [
      "a missing track",
      (given) => ({ ...good(given), tracks: (good(given) as never as { tracks: [] }).tracks.slice(1) }) as never,
    ],
    ["other tracks", (given) => other(given, (track) => ({ ...track, track: "144p" }))],
    ["one track twice", (given) => other(given, (track) => ({ ...track, output: 2, track: "720p" }))],
    ["a name of another attempt", (given) => other(given, (track) => ({ ...track, name: "chunk-0-1/0-v.mp4" }))],
  ])("goes to another node if it has %s, and ends encoding in chunks if this is repeated", (_, report) => {
    const { state, given, id } = chunking();
    const once = completeTask(state, id, report(given), NOW);
    expect(once.tasks.find((task) => task.id === id)).toMatchObject({ phase: "pending", avoid: ["b"], failures: 1 });
    expect(statuses(once)[0]).toBe("video.encoding");
    const again = claim(once, "c", NOW + 2000);
    expect(again.id).toBe(id);
    const fallen = completeTask(again.state, id, report(again.given), NOW + 2000);
    expect(kindsOf(fallen)).toEqual(["encode-whole"]);
    expect(viewJob(fallen).ultrafast?.reason).toMatch(/^Encoded in one piece, because a chunk could not be encoded: /);
    expect(run(fallen).status).toBe("job.completed");
  });

  it("is not accepted from another encoder, without a failure; the next node gets the required encoder", () => {
    const { state, given, id } = chunking();
    expect(given.task).toMatchObject({ encoder: "libx264 7.0" });
    const rejected = completeTask(state, id, good(given, { encoder: "h264_nvenc 7.0" }), NOW);
    expect(rejected.tasks.find((task) => task.id === id)).toMatchObject({ failures: 0, losses: 0, avoid: ["b"] });
    expect(checkLease(rejected, { lease: given.lease, token: given.token }).verdict).toBe("superseded");
    const lacking = failTask(state, id, { code: "encoder_not_available", message: "No libx264" }, NOW);
    expect(lacking.tasks.find((task) => task.id === id)).toMatchObject({ failures: 0, losses: 0 });
    // A node gets such a chunk again only after it has failed all waiting chunks. Then it counts as a loss.
    const others = rejected.tasks.filter((task) => task.id === id);
    const back = claim({ ...rejected, tasks: others, chunkResults: allBut(rejected, 1) }, "b");
    const twice = failTask(back.state, id, { code: "encoder_not_available", message: "No libx264" }, NOW);
    expect(twice.tasks.find((task) => task.id === id)).toMatchObject({ failures: 0, losses: 1 });
    const ended = run(rejected);
    expect([ended.status, ultrafastReceipt(ended)?.retries]).toEqual(["job.completed", 1]);
  });

  it("is started again after a loss, until it was lost too often", () => {
    const { state, given, id } = chunking();
    const lost = expireLeases(state, NOW + LEASE_MS);
    expect(kindsOf(lost)[0]).toBe(id);
    expect(statuses(lost)[0]).toBe("video.encoding");
    expect(renewLease(lost, { lease: given.lease, token: given.token }, NOW).verdict).toBe("current");
    let next = lost;
    for (let at = 1; at <= MAX_LOSSES; at++) {
      next = expireLeases(claim(next, `c${at}`, NOW + at * LEASE_MS).state, NOW + (at + 1) * LEASE_MS);
    }
    expect([kindsOf(next), statuses(next)]).toEqual([
      ["encode-whole"],
      ["video.queued", "image.created", "httpstream.queued"],
    ]);
  });

  it("revokes the other leases if it fails permanently, and keeps finished outputs", () => {
    const { state, given, id } = chunking();
    const two = claim(state, "c");
    const fallen = failTask(two.state, id, { code: "watermark_failed", message: "It is not an image" }, NOW);
    expect(fallen.revoked).toContain(two.given.lease);
    expect(checkLease(fallen, { lease: two.given.lease, token: two.given.token }).verdict).toBe("superseded");
    expect(checkLease(fallen, { lease: given.lease, token: given.token }).verdict).toBe("superseded");
    expect(claim(fallen).given.task).toMatchObject({ kind: "encode", outputs: [{ index: 0 }, { index: 2 }] });
    expect(run(fallen).status).toBe("job.completed");
  });
});

describe("joining", () => {
  const failed = (output: number, code: "encoding_failed" | "storage_denied"): OutputReport => {
    return { status: "failed", output, failure: { code, message: "It broke" } };
  };

  it.each<[string, Partial<ChunkBoundaryCheck>, boolean]>([
    ["a frame is missing", { framesJoined: 5999 }, false],
    ["a frame is off its time", { largestErrorUs: 1001 }, false],
    ["all is as planned", { largestErrorUs: 99, videoOverAudioMs: null }, true],
  ])("is retried, and then given up, when %s: %j", (_, changed, isGood) => {
    const { state, given, id } = claim(joining());
    const report = { ...good(given), boundaries: { ...BOUNDARIES, ...changed } } as TaskResult;
    const once = completeTask(upload(state, id), id, report, NOW);
    if (isGood) return expect(once.status).toBe("job.completed");
    const again = claim(once, "b", NOW + 2000);
    const twice = completeTask(upload(again.state, id), id, report, NOW + 2000);
    expect(kindsOf(twice)).toEqual(["encode-whole"]);
    expect(viewJob(twice).ultrafast).toEqual({ chunks: 0, reason: expect.stringContaining("could not be joined") });
    const ended = run(twice);
    expect([ended.status, ultrafastReceipt(ended)]).toEqual(["job.completed", null]);
  });

  it("is retried for a failed output, which is then encoded in one piece", () => {
    const { state, given, id } = claim(joining());
    const half = { ...good(given), outputs: [madeReport(0), failed(2, "encoding_failed")] } as TaskResult;
    const once = completeTask(upload(state, id), id, half, NOW);
    expect(statuses(once)).toEqual(["video.encoded", "image.created", "httpstream.variants.encoding"]);
    const again = claim(once, "b", NOW + 2000);
    expect((again.given.task as TaskOf<"join">).chunks[0]?.tracks.map(({ output }) => output)).toEqual([2, 2]);
    const other = { ...good(again.given), outputs: [failed(2, "encoding_failed")] } as TaskResult;
    const twice = completeTask(upload(again.state, id), id, other, NOW + 2000);
    expect(claim(twice).given).toMatchObject({ task: { kind: "encode", outputs: [{ index: 2 }] } });
  });

  it("does not encode an output again if the storage rejects it", () => {
    const { state, given, id } = claim(joining());
    const rejected = { ...good(given), outputs: [madeReport(0), failed(2, "storage_denied")] } as TaskResult;
    const ended = completeTask(upload(state, id), id, rejected, NOW);
    expect(viewJob(ended)).toMatchObject({ status: "job.failed", ultrafast: { chunks: ALL.length } });
  });
});
