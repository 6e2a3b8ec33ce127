import { describe, expect, it, vi } from "vitest";
import type { JobView } from "#shared/job/job-view.ts";
import { checkedJob, newSpec } from "../../testing/jobs.ts";
import { viewJob } from "../views/job-view.ts";
import { JobEvents } from "./job-events.ts";

/** A job that changes on demand, and its followers. */
async function followed() {
  let view: JobView | null = viewJob(checkedJob(await newSpec()));
  const tasks = { job_id: "", tasks: [], attempts: [], attempts_dropped: 0 };
  const events = new JobEvents(() => view && { job: view, tasks: () => tasks });
  const change = (next: Partial<JobView> | null): void => {
    view = next && view && { ...view, ...next };
    events.wake();
  };
  const follow = () => {
    const reader = events.open()?.getReader();
    if (!reader) return null;
    const read = async (): Promise<string | null> => {
      const { value } = await reader.read();
      return value ? new TextDecoder().decode(value) : null;
    };
    return { read, cancel: () => reader.cancel() };
  };
  return { change, follow };
}

/** The maximum number of followers, all of which have received the first event. */
async function crowd(follow: Awaited<ReturnType<typeof followed>>["follow"]) {
  const all = [];
  for (let next = follow(); next; next = follow()) all.push(next);
  for (const { read } of all) expect(await read()).toContain("job.starting");
  return all;
}

describe("streams that follow a job", () => {
  it("wait for a change, and end with the job", async () => {
    const { change, follow } = await followed();
    const stream = follow();
    expect(await stream?.read()).toContain('"input.starting"');
    const next = stream?.read();
    change({ input: { status: "input.transferring" } });
    expect(await next).toContain('"input.transferring"');
    change({ status: "job.aborted", completed_at: "2026-11-21 05:24:00 +0000" });
    expect(await stream?.read()).toMatch(/^event: job\n.*job\.aborted.*\n\nevent: end\n.*job\.aborted.*\n\n$/s);
    expect(await stream?.read()).toBeNull();
  });

  it("keep only the newest event for a slow reader", async () => {
    const { change, follow } = await followed();
    const stream = follow();
    const fail = (error: string) => change({ input: { status: "input.failed", error } });
    for (const error of ["one", "two", "three"]) fail(error);
    expect(await stream?.read()).toContain('"three"');
    for (const error of ["four", "five"]) fail(error);
    expect(await stream?.read()).toContain('"five"');
  });

  it("are at most twenty, and make room when a follower leaves, even while it waits", async () => {
    const { follow } = await followed();
    const all = await crowd(follow);
    expect(all).toHaveLength(20);
    const waiting = all[0]?.read();
    await all[0]?.cancel();
    expect(await waiting).toBeNull();
    expect(follow()).not.toBeNull();
    expect(follow()).toBeNull();
  });

  it("close without an end when the job is no longer kept", async () => {
    const { change, follow } = await followed();
    const all = await crowd(follow);
    change(null);
    expect(await Promise.all(all.map(({ read }) => read()))).toEqual(all.map(() => null));
    expect(follow()).not.toBeNull();
  });

  it("leave no timer behind", async () => {
    const [set, clear] = [vi.spyOn(globalThis, "setTimeout"), vi.spyOn(globalThis, "clearTimeout")];
    const { change, follow } = await followed();
    const [one, two] = [follow(), follow()];
    for (const stream of [one, two]) await stream?.read();
    const waiting = [one?.read(), two?.read()];
    await one?.cancel();
    change({ status: "job.aborted", completed_at: "2026-11-21 05:24:00 +0000" });
    await Promise.all(waiting);
    const started = set.mock.results.map(({ value }) => value);
    const cleared = clear.mock.calls.map(([timer]) => timer);
    expect(started.length).toBe(2);
    expect(started.filter((timer) => !cleared.includes(timer))).toEqual([]);
    vi.restoreAllMocks();
  });
});
