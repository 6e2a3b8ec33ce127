import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import type { JobView } from "#shared/job/job-view.ts";
import { checkedJob, newSpec } from "../../testing/jobs.ts";
import { viewJob } from "../views/job-view.ts";
import { JobEvents } from "./job-events.ts";

const ENDED = { status: "job.aborted", completed_at: "2026-11-21 05:24:00 +0000" } as const;

/** Runs a test with a job that changes on demand, and its followers' sockets. */
async function withFollowed(test: (followed: Followed) => Promise<void> | void): Promise<void> {
  const jobView = viewJob(checkedJob(await newSpec()));
  await runInDurableObject(env.JOB.getByName(crypto.randomUUID()), async (_, ctx) => {
    let view: JobView | null = jobView;
    const tasks = { job_id: "", tasks: [], attempts: [], attempts_dropped: 0 };
    const events = new JobEvents(ctx, () => view && { job: view, tasks: () => tasks });
    const follow = (lastEventId: string | null = null) => {
      const before = new Set(ctx.getWebSockets());
      const socket = events.isFull ? null : events.follow(lastEventId).webSocket;
      const texts: string[] = [];
      const closed: number[] = [];
      socket?.addEventListener("message", ({ data }) => texts.push(String(data)));
      socket?.addEventListener("close", ({ code }) => closed.push(code));
      socket?.accept();
      const [server] = ctx.getWebSockets().filter((socket) => !before.has(socket));
      if (!socket || !server) return null;
      return { texts, closed, read: () => events.read(server), leave: () => events.left(server) };
    };
    const change = (next: Partial<JobView> | null): void => {
      view = next && view && { ...view, ...next };
      events.wake();
    };
    await test({ follow, change, events });
  });
}
type Follower = { texts: string[]; closed: number[]; read(): void; leave(): boolean };
type Followed = {
  events: JobEvents;
  follow(lastEventId?: string | null): Follower | null;
  change(next: Partial<JobView> | null): void;
};

describe("the sockets of a job's followers", () => {
  it("carry changes of the job, and close with it", () =>
    withFollowed(async ({ follow, change }) => {
      const follower = follow("41");
      await vi.waitFor(() => expect(follower?.texts[0]).toMatch(/^event: job\nid: 42\n.*"input\.starting"/s));
      follower?.read();
      change({ input: { status: "input.transferring" } });
      await vi.waitFor(() => expect(follower?.texts[1]).toContain('"input.transferring"'));
      follower?.read();
      change(ENDED);
      const last = /^event: job\n.*job\.aborted.*\n\nevent: end\n.*job\.aborted.*\n\n$/s;
      await vi.waitFor(() => expect(follower?.texts[2]).toMatch(last));
      await vi.waitFor(() => expect(follower?.closed).toEqual([1000]));
    }));

  it("carry only the newest event to a slow follower", () =>
    withFollowed(async ({ follow, change }) => {
      const follower = follow();
      const fail = (error: string) => change({ input: { status: "input.failed", error } });
      for (const error of ["one", "two", "three"]) fail(error);
      follower?.read();
      await vi.waitFor(() => expect(follower?.texts[1]).toContain('"three"'));
      expect(follower?.texts).toHaveLength(2);
    }));

  it("are at most twenty, and make room when a follower leaves", () =>
    withFollowed(({ follow }) => {
      const all = Array.from({ length: 20 }, () => follow());
      expect(follow()).toBeNull();
      expect(all[0]?.leave()).toBe(true);
      expect(all[0]?.leave()).toBe(false);
      expect(follow()).not.toBeNull();
    }));

  it("close without an end when the job is no longer kept", () =>
    withFollowed(async ({ follow, change }) => {
      const all = [follow(), follow()];
      for (const one of all) one?.read();
      change(null);
      await vi.waitFor(() => expect(all.map((socket) => socket?.closed)).toEqual([[1000], [1000]]));
    }));

  it("leave no timer behind, so that the object hibernates between changes", () =>
    withFollowed(async ({ follow, change }) => {
      const set = vi.spyOn(globalThis, "setTimeout");
      const follower = follow();
      follower?.read();
      change({ input: { status: "input.transferring" } });
      follower?.read();
      expect(set).not.toHaveBeenCalled();
      vi.restoreAllMocks();
    }));
});
