import { describe, expect, it } from "vitest";
import { RETENTION_MS } from "../../settings.ts";
import { claim, good, inspected, kindsOf, NOW, run, spec, step, useChunkedSpec } from "../../testing/chunked-jobs.ts";
import { videoChunking } from "../../testing/jobs.ts";
import { renewLease } from "../decide/leases.ts";
import { completeTask } from "../decide/reports.ts";
import { failTask } from "../decide/task-ends.ts";
import { nextAlarmAt } from "../effects/job-effects.ts";
import { checkLease } from "../state/check-lease.ts";
import type { JobState } from "../state/job-state.ts";
import { ultrafastReceipt } from "../views/chunk-view.ts";
import { speculationsDue, startSpeculations } from "./speculative-attempts.ts";

useChunkedSpec();

describe("a slow chunk", () => {
  /** All chunks took a second each, except a chunk that `slow` has worked on since NOW. */
  function waiting() {
    const started = run(inspected(), (kind) => kind === "chunk");
    const held = claim(started, "slow");
    const alive = renewLease(held.state, { lease: held.given.lease, token: held.given.token }, NOW + 60_000).state;
    return { ...held, state: run(alive) };
  }
  const speculate = (state: JobState) => claim(startSpeculations(state, NOW + 30_000), "quick", NOW + 30_000);

  it("is also given to another node when the others took half the time", () => {
    const { state } = waiting();
    expect(speculationsDue(state).map(({ at }) => at)).toEqual([NOW + 10_000]);
    expect(
      nextAlarmAt({ ...state, indexedVersion: state.version, advertisedAt: {} as never }, () => 0, RETENTION_MS),
    ).toBe(NOW + 10_000);
    expect(startSpeculations(state, NOW + 9999)).toBe(state);
    const offered = startSpeculations(state, NOW + 10_000);
    expect(kindsOf(offered)).toEqual(["chunk-0-speculative"]);
    expect(startSpeculations(offered, NOW + 20_000)).toBe(offered);
    expect(offered.tasks.find(({ speculativeOf }) => speculativeOf)?.avoid).toContain("slow");
    expect(claim(offered, "slow", NOW + 10_000).given).toBeUndefined();
    expect(claim(offered, "quick", NOW + 10_000).given.lease).toBe(`${spec.id}.chunk-0-speculative.1`);
  });

  it("waits while other chunks have not started, and while too few are finished", () => {
    const started = run(inspected(), (kind) => kind === "chunk");
    expect(speculationsDue(step(step(claim(started, "slow").state)))).toEqual([]);
    const chunking = { ...videoChunking(100), longestGopMs: 30_000 };
    const two = run(inspected(spec, { seconds: 100, chunking }), (kind) => kind === "chunk");
    expect(kindsOf(two)).toHaveLength(2);
    expect(speculationsDue(run(claim(two, "slow").state))).toEqual([]);
  });

  it.each(["slow", "quick"])("is done with the first good result, here from %s", (first) => {
    const held = waiting();
    const second = speculate(held.state);
    const [winner, loser] = first === "slow" ? [held, second] : [second, held];
    const done = completeTask(second.state, winner.id, good(winner.given), NOW + 31_000);
    expect(kindsOf(done)).toEqual(["join"]);
    expect(done.revoked).toEqual([loser.given.lease]);
    expect(checkLease(done, { lease: loser.given.lease, token: loser.given.token }).verdict).toBe("superseded");
    expect(done.chunkResults[0]).toMatchObject({ nodeId: first, tries: 2 });
    const ended = run(done);
    const receipt = ultrafastReceipt(ended)?.chunks[0];
    expect(receipt).toMatchObject({ node: first, attempts: 2 });
    // A video that starts half a second after its file.
    const video = { ...done.chunks?.video, startUs: 500_000 };
    const late = ultrafastReceipt({ ...ended, chunks: { ...ended.chunks, video } } as JobState)?.chunks[0];
    expect(late?.seconds).toBe((receipt?.seconds ?? 0) - 0.5);
  });

  it.each(["slow", "quick"])("continues on the other node when %s fails or is lost", (which) => {
    const held = waiting();
    const second = speculate(held.state);
    const [gone, left] = which === "slow" ? [held, second] : [second, held];
    const failure = { code: "encoding_failed", message: "It broke" } as const;
    const lost = { code: "node_lost", message: "Draining" } as const;
    for (const reason of [failure, lost]) {
      const alone = failTask(second.state, gone.id, reason, NOW + 31_000);
      expect(alone.tasks.filter(({ kind }) => kind === "chunk").map(({ id }) => id)).toEqual([left.id]);
      expect(run(completeTask(alone, left.id, good(left.given), NOW + 32_000)).status).toBe("job.completed");
      expect(kindsOf(failTask(alone, left.id, lost, NOW + 32_000))).toEqual([left.id]);
    }
  });
});
