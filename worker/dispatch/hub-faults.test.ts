// Faults of nodes, of sockets and of the hub itself lose no task.
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type LeaseProof, OFFER_MS } from "#shared/protocol/leases.ts";
import { JobObject } from "../job/job-object.ts";
import { hubOf } from "../rpc/hub.ts";
import { jobOf } from "../rpc/job.ts";
import type { JobSpec } from "../rpc/job-spec.ts";
import { newSpec } from "../testing/jobs.ts";
import { connect, hello, joined, newJob, settle, useNodes } from "../testing/nodes.ts";
import { loadState } from "../testing/stored-state.ts";
import { claimFrom } from "../testing/turns.ts";
import { NodeHub } from "./node-hub.ts";

useNodes();
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const ONE_INSPECT = { inspect: 1, encode: 0 };
/** Longer than the silence limit of a node. */
const LONG_MS = 60_000;

/** Remaining time of each job's first lease, in ms; null if it is lost or there is none. */
const leasesLeft = (jobs: readonly JobSpec[]): Promise<(number | null)[]> =>
  Promise.all(
    jobs.map(({ id }) =>
      runInDurableObject(jobOf(env, id), (_, { storage }) => {
        const task = loadState(storage)?.tasks[0];
        return task?.phase === "leased" && task.lease ? task.lease.expiresAt - Date.now() : null;
      }),
    ),
  );

/** Connects `size` nodes, each with a running task. */
async function busyFleet(size: number) {
  const numbers = Array.from({ length: size }, (_, number) => number);
  const jobs = await Promise.all(numbers.map((number) => newJob({ accountId: `account-${number % 2}` })));
  const nodes = await Promise.all(numbers.map((number) => joined(`n${number}`, ONE_INSPECT)));
  const running = await Promise.all(
    nodes.map(async (node): Promise<LeaseProof> => {
      const { lease, token } = (await node.next("assign")).assignment;
      node.say({ type: "progress", items: [{ lease, token, stage: "transferring", fraction: 0.5 }] });
      return { lease, token };
    }),
  );
  await vi.waitFor(async () => expect(Math.min(...(await leasesLeft(jobs)).map(Number))).toBeGreaterThan(30_000));
  return { jobs, nodes, running };
}

/** Connects the same processes again, on new sockets. */
const comeBack = (running: readonly LeaseProof[]) =>
  Promise.all(running.map((proof, number) => joined(`n${number}`, { inspect: 0, encode: 0 }, `s-n${number}`, [proof])));

describe("hub faults", () => {
  it("loses no lease when all sockets close at once and all nodes reconnect", async () => {
    // The clock stands still: the nodes return before their leases end after ten seconds.
    vi.setSystemTime(Date.now());
    const { jobs, nodes, running } = await busyFleet(40);
    for (const node of nodes) node.socket.close();
    await vi.waitFor(async () => expect(await hubOf(env).stats()).toMatchObject({ nodes: 0 }));
    await vi.waitFor(async () => expect(new Set(await leasesLeft(jobs))).toEqual(new Set([10_000])));
    const back = await comeBack(running);
    await vi.waitFor(async () => expect(Math.min(...(await leasesLeft(jobs)).map(Number))).toBeGreaterThan(30_000));
    expect(await hubOf(env).stats()).toMatchObject({ nodes: 40 });
    expect(back.flatMap(({ frames }) => frames)).toEqual([]);
  });

  it("loses no work when the hub dies with all its sockets", async () => {
    const { jobs, nodes, running } = await busyFleet(20);
    const waiting = await newJob();
    await vi.waitFor(async () => expect(await hubOf(env).stats()).toMatchObject({ tickets: 1 }));
    await evictDurableObject(hubOf(env), { webSockets: "close" });
    await Promise.all(nodes.map(({ closed }) => closed));
    expect(await hubOf(env).stats()).toEqual({ nodes: 0, tickets: 1 });
    const back = await comeBack(running);
    const fresh = await joined("fresh", ONE_INSPECT);
    expect((await fresh.next("assign")).assignment.jobId).toBe(waiting.id);
    expect(back.flatMap(({ frames }) => frames)).toEqual([]);
    const [lease] = running.map((proof) => proof.lease);
    await jobOf(env, jobs.find(({ id }) => lease?.startsWith(id))?.id ?? "").cancel();
    expect((await back[0]?.next("cancel"))?.lease).toBe(lease);
  });

  it("disconnects a silent node and shortens its leases, and keeps the other nodes", async () => {
    const { jobs } = await busyFleet(1);
    const idle = await joined("idle", ONE_INSPECT);
    const speaker = await joined("speaker", { inspect: 0, encode: 0 });
    vi.setSystemTime(Date.now() + LONG_MS);
    speaker.say({ type: "slots", offered: ONE_INSPECT, released: [] });
    await vi.waitFor(async () => expect(await hubOf(env).stats()).toEqual({ nodes: 1, tickets: 0 }));
    expect(await idle.closed).toBe(1001);
    await vi.waitFor(async () => expect((await leasesLeft(jobs))[0]).toBeLessThan(11_000));
    const next = await newJob();
    expect((await speaker.next("assign")).assignment.jobId).toBe(next.id);
  });

  it("detects after hibernation which node was silent before it", async () => {
    const silent = await joined("silent", ONE_INSPECT);
    vi.setSystemTime(Date.now() + LONG_MS);
    await evictDurableObject(hubOf(env), { webSockets: "hibernate" });
    await joined("other", { inspect: 0, encode: 0 });
    expect(await silent.closed).toBe(1001);
  });

  it("reports leases that never reached their nodes, and the job assigns them again", async () => {
    const [held, lost, away] = [await newJob(), await newSpec(), await newSpec()];
    const node = await joined("a", ONE_INSPECT);
    await node.next("assign");
    const advertise = vi
      .spyOn(NodeHub.prototype, "advertise")
      .mockResolvedValue({ waitingFor: null, taken: [], hasSource: false });
    // The hub dies between the claims of these leases and the assignments.
    for (const [nodeId, spec] of [["a", lost] as const, ["b", away] as const]) {
      await jobOf(env, spec.id).create(spec);
      await claimFrom(jobOf(env, spec.id), { nodeId, session: `s-${nodeId}`, slotClass: "inspect", max: 1 });
    }
    await settle();
    advertise.mockRestore();
    vi.setSystemTime(Date.now() + OFFER_MS);
    const ring = async ({ id }: JobSpec) => {
      await evictDurableObject(jobOf(env, id));
      await runDurableObjectAlarm(jobOf(env, id));
    };
    const holders = vi.spyOn(NodeHub.prototype, "holders").mockRejectedValueOnce(new Error("Network connection lost."));
    for (const spec of [lost, held, away]) await ring(spec);
    expect((await leasesLeft([lost]))[0]).toBeGreaterThan(LONG_MS);
    // The job whose call failed asks again.
    vi.setSystemTime(Date.now() + 5000);
    await runDurableObjectAlarm(jobOf(env, lost.id));
    expect(holders).toHaveBeenCalledTimes(4);
    const [isHeld, , isAway] = await leasesLeft([held, lost, away]);
    expect(isHeld).toBeGreaterThan(LONG_MS);
    expect(isAway).toBeLessThan(3 * LONG_MS);
    const other = await joined("c", ONE_INSPECT);
    expect((await other.next("assign")).assignment.lease).toBe(`${lost.id}.inspect.2`);
  });

  it("offers all tasks again after a job was not reachable", async () => {
    const spec = await newSpec();
    const lost = new Error("Network connection lost.");
    const turn = vi.spyOn(JobObject.prototype, "turn").mockRejectedValueOnce(lost).mockRejectedValueOnce(lost);
    await jobOf(env, spec.id).create(spec);
    const node = await joined("a", ONE_INSPECT);
    const { assignment } = await node.next("assign");
    expect(assignment.jobId).toBe(spec.id);
    // The hub tries again at once, then with the next offer.
    expect(turn).toHaveBeenCalledTimes(3);
    expect(await hubOf(env).stats()).toEqual({ nodes: 1, tickets: 0 });
  });

  it("sends reports in the same turn, acknowledges stored reports, and returns undelivered reports", async () => {
    const node = await joined("a", ONE_INSPECT);
    const spec = await newJob();
    const { lease, token } = (await node.next("assign")).assignment;
    const failure = { code: "input_not_media", message: "Not media" };
    const report = (id: number, by: string) =>
      node.say({ type: "report", id, report: { lease, verb: "fail", body: { token: by, failure } } });
    const turn = vi.spyOn(JobObject.prototype, "turn");
    const lost = new Error("Network connection lost.");
    turn.mockRejectedValueOnce(lost).mockRejectedValueOnce(lost);
    // The node then sends the report by POST.
    report(1, token);
    expect(await node.next("ack")).toMatchObject({ id: 1, isAccepted: null });
    expect(turn).toHaveBeenCalledTimes(2);
    report(2, token);
    report(3, "stale");
    const acks = [await node.next("ack"), await node.next("ack")];
    expect(acks.map(({ id, isAccepted }) => [id, isAccepted]).toSorted()).toEqual([
      [2, true],
      [3, false],
    ]);
    expect(await jobOf(env, spec.id).view()).toMatchObject({ ok: true, value: { status: "job.failed" } });
  });

  it("counts a lease as held while a report on it is on its way, though its slot is free", async () => {
    const node = await joined("a", ONE_INSPECT);
    await newJob();
    const { lease, token } = (await node.next("assign")).assignment;
    const answered = Promise.withResolvers<never>();
    const turn = vi.spyOn(JobObject.prototype, "turn").mockReturnValue(answered.promise);
    const body = { token, failure: { code: "input_not_media", message: "Not media" } };
    const slots = { offered: { inspect: 0, encode: 0 }, released: [lease] };
    node.say({ type: "report", id: 0, report: { lease, verb: "fail", body }, slots });
    await vi.waitFor(() => expect(turn).toHaveBeenCalled());
    const holder = { lease, nodeId: "a", session: "s-a" };
    expect(await hubOf(env).holders([holder])).toEqual(["held"]);
    answered.reject(new Error("Network connection lost."));
    expect(await node.next("ack")).toMatchObject({ isAccepted: null });
    expect(await hubOf(env).holders([holder])).toEqual(["not-held"]);
  });

  it("gets a ticket again from a job that died while it advertised", async () => {
    const spec = await newSpec();
    const advertise = vi.spyOn(NodeHub.prototype, "advertise").mockRejectedValue(new Error("Network connection lost."));
    advertise.mockImplementationOnce(() => {
      void runInDurableObject(jobOf(env, spec.id), (_, ctx) => ctx.abort("A fault of the test")).catch(() => null);
      return new Promise(() => undefined);
    });
    await jobOf(env, spec.id).create(spec);
    await vi.waitFor(() => expect(advertise).toHaveBeenCalled());
    await settle();
    advertise.mockRestore();
    const node = await joined("a", ONE_INSPECT);
    await runDurableObjectAlarm(jobOf(env, spec.id));
    expect((await node.next("assign")).assignment.jobId).toBe(spec.id);
  });

  it("serves an account's only job before another account's many older jobs", async () => {
    const many = await Promise.all(Array.from({ length: 10 }, () => newJob({ accountId: "many" })));
    const single = await newJob({ accountId: "single" });
    const node = await joined("a", { inspect: 2, encode: 0 });
    const jobs = [await node.next("assign"), await node.next("assign")].map(({ assignment }) => assignment.jobId);
    expect(jobs).toContain(single.id);
    expect(many.map(({ id }) => id)).toContain(jobs.find((id) => id !== single.id));
  });

  it("ignores a socket that a newer socket has replaced", async () => {
    const old = await joined("a", { inspect: 0, encode: 0 }, "old");
    const fresh = await connect();
    fresh.say(hello("a", { inspect: 0, encode: 0 }, "new"));
    old.say({ type: "slots", offered: { inspect: 5, encode: 5 }, released: [] });
    await fresh.next("welcome");
    await newJob();
    await settle();
    expect([...old.frames, ...fresh.frames]).toEqual([]);
    expect(await hubOf(env).stats()).toEqual({ nodes: 1, tickets: 1 });
  });
});
