import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { RunningCommandList } from "#shared/api/command-responses.ts";
import { JobObject } from "../job/job-object.ts";
import { hubOf } from "../rpc/hub.ts";
import { jobOf } from "../rpc/job.ts";
import { PROBE } from "../testing/jobs.ts";
import { connect, hello, joined, newJob, settle, useNodes } from "../testing/nodes.ts";
import { loadState } from "../testing/stored-state.ts";
import { offerOf } from "./matching/testing/simulated-fleet.ts";

useNodes();

describe("node hub", () => {
  it("assigns a waiting task to a new node, and a new task to a waiting node", async () => {
    const early = await newJob();
    const node = await joined("a", { inspect: 2, encode: 0 });
    expect((await node.next("assign")).assignment).toMatchObject({ jobId: early.id, task: { kind: "inspect" } });
    const late = await newJob();
    expect((await node.next("assign")).assignment).toMatchObject({ jobId: late.id });
    expect(await hubOf(env).stats()).toEqual({ nodes: 1, tickets: 0 });
  });

  it("returns the number of encodes that its nodes can run, including running encodes", async () => {
    expect(await hubOf(env).capacity()).toBe(0);
    const [reader, other] = [
      await joined("reader", { inspect: 1, encode: 2 }),
      await joined("other", { inspect: 1, encode: 1 }),
    ];
    expect(await hubOf(env).capacity()).toBe(3);
    const spec = await newJob();
    const [given] = await vi.waitFor(async () => {
      const { tasks } = (await runInDurableObject(jobOf(env, spec.id), (_, { storage }) => loadState(storage))) ?? {};
      if (!tasks?.[0]?.lease) throw new Error("Nobody inspects");
      return [{ lease: `${spec.id}.inspect.1`, token: tasks[0].lease.token }];
    });
    await jobOf(env, spec.id).complete(given?.lease as never, {
      token: given?.token ?? "",
      result: { kind: "inspect", probe: PROBE },
    });
    await vi.waitFor(async () => expect(await hubOf(env).capacity()).toBe(3));
    reader.say({ type: "bye" });
    await vi.waitFor(async () => expect(await hubOf(env).capacity()).toBe(1));
    // The node is expected back.
    other.socket.close();
    await vi.waitFor(async () => expect(await hubOf(env).stats()).toMatchObject({ nodes: 1 }));
    expect(await hubOf(env).capacity()).toBe(1);
  });

  it("asks the nodes of a job for the commands that run now", async () => {
    const spec = await newJob();
    const node = await joined("a", { inspect: 1, encode: 0 });
    const { lease } = (await node.next("assign")).assignment;
    const idle = await joined("b", { inspect: 1, encode: 0 });
    await newJob();
    await idle.next("assign");
    const runningOf = async (id: string) => {
      const fact = await jobOf(env, id).fact("running");
      return JSON.parse(fact.ok ? fact.value : "null");
    };
    const lists = [runningOf(spec.id), runningOf(spec.id)];
    expect(await node.next("look")).toEqual({ type: "look", lease });
    const command = { argv: ["-i", "source"], afterMs: 40, tookMs: 1500, exitCode: null, stderrTail: "frame=9" };
    // Only the node of the lease responds for it.
    idle.say({ type: "running", lease, commands: [{ ...command, argv: ["forged"] }] });
    await settle();
    node.say({ type: "running", lease, commands: [command] });
    const run = { task: "inspect", attempt: 1, node: "a", argv: command.argv, seconds: 1.5, output: "frame=9" };
    for (const list of await Promise.all(lists)) {
      expect(list).toMatchObject({ job_id: spec.id, commands: [run] });
      expect(RunningCommandList.parse(list)).toEqual(list);
    }
    expect(node.frames).toEqual([]);
    expect(idle.frames).toEqual([]);
  });

  it("assigns a node at most as many tasks as it has offered slots", async () => {
    const node = await joined("a", { inspect: 1, encode: 0 });
    const jobs = [await newJob(), await newJob()];
    const { assignment } = await node.next("assign");
    await settle();
    expect(node.frames).toEqual([]);
    node.say({ type: "slots", offered: { inspect: 1, encode: 0 }, released: [assignment.lease] });
    expect(jobs.map(({ id }) => id)).toContain((await node.next("assign")).assignment.jobId);
  });

  it("first assigns a job that was moved to the front while it waited", async () => {
    const jobs = [await newJob(), await newJob(), await newJob()];
    await vi.waitFor(async () => expect(await hubOf(env).stats()).toEqual({ nodes: 0, tickets: 3 }));
    const moved = jobs[2]?.id ?? "";
    expect(await jobOf(env, moved).prioritize(50)).toMatchObject({ ok: true });
    // No turn is running then, so the alarm ends once the hub has been notified.
    await evictDurableObject(jobOf(env, moved));
    await runDurableObjectAlarm(jobOf(env, moved));
    const node = await joined("a", { inspect: 1, encode: 0 });
    expect((await node.next("assign")).assignment.jobId).toBe(moved);
  });

  it("assigns the encode to the node that inspected, and waits a while for its slot", async () => {
    const reader = await joined("reader", { inspect: 1, encode: 0 });
    const other = await joined("other", { inspect: 0, encode: 1 });
    const spec = await newJob();
    const { lease, token: proof } = (await reader.next("assign")).assignment;
    await jobOf(env, spec.id).complete(lease, { token: proof, result: { kind: "inspect", probe: PROBE } });
    await settle();
    expect(other.frames).toEqual([]);
    reader.say({ type: "slots", offered: { inspect: 1, encode: 1 }, released: [lease] });
    expect((await reader.next("assign")).assignment.task.kind).toBe("encode");
  });

  it("assigns the encode to another node when the preferred node stays busy", async () => {
    const reader = await joined("reader", { inspect: 1, encode: 0 });
    const other = await joined("other", { inspect: 0, encode: 1 });
    const spec = await newJob();
    const { lease, token: proof } = (await reader.next("assign")).assignment;
    await jobOf(env, spec.id).complete(lease, { token: proof, result: { kind: "inspect", probe: PROBE } });
    const { assignment } = await other.next("assign");
    expect(assignment.task.kind).toBe("encode");
  });

  it("keeps sockets, slots and tickets during hibernation", async () => {
    const node = await joined("a", { inspect: 1, encode: 0 });
    const first = await newJob();
    const { assignment } = await node.next("assign");
    const second = await newJob();
    await vi.waitFor(async () => expect(await hubOf(env).stats()).toEqual({ nodes: 1, tickets: 1 }));
    await evictDurableObject(hubOf(env), { webSockets: "hibernate" });
    expect(await hubOf(env).stats()).toEqual({ nodes: 1, tickets: 1 });
    node.say({ type: "slots", offered: { inspect: 1, encode: 0 }, released: [assignment.lease] });
    expect([assignment.jobId, (await node.next("assign")).assignment.jobId]).toEqual([first.id, second.id]);
  });

  it("passes no extra progress to the job after the hub hibernates", async () => {
    const node = await joined("a", { inspect: 1, encode: 0 });
    const spec = await newJob();
    const { lease, token: proof } = (await node.next("assign")).assignment;
    const turn = vi.spyOn(JobObject.prototype, "turn");
    for (const fraction of [0.2, 0.4, 0.6]) {
      node.say({ type: "progress", items: [{ lease, token: proof, stage: "transferring", fraction }] });
      await settle();
      await evictDurableObject(hubOf(env), { webSockets: "hibernate" });
    }
    expect(turn.mock.calls.length).toBeLessThanOrEqual(1);
    turn.mockRestore();
    expect(await hubOf(env).watch(spec.id, [lease], 0)).toMatchObject([{ lease, fraction: 0.6 }]);
  });

  it("passes progress to the job, and cancels leases that the job no longer needs", async () => {
    const node = await joined("a", { inspect: 1, encode: 0 });
    const spec = await newJob();
    const { lease, token: proof } = (await node.next("assign")).assignment;
    node.say({ type: "progress", items: [{ lease, token: proof, stage: "transferring", fraction: 0.5 }] });
    await vi.waitFor(async () => {
      const view = await jobOf(env, spec.id).view();
      expect(view.ok && view.value.input.status).toBe("input.transferring");
    });
    node.say({ type: "progress", items: [{ lease, token: "stale", stage: "transferring", fraction: 0.6 }] });
    expect((await node.next("cancel")).lease).toBe(lease);
  });

  it("protects a lease from a node that names it, even if the node knows other leases of the job", async () => {
    const holder = await joined("a", { inspect: 1, encode: 0 });
    const spec = await newJob();
    const { lease, token: proof } = (await holder.next("assign")).assignment;
    // The tokens of all leases of a job end alike.
    const forged = { lease, token: `${"x".repeat(44)}${proof.slice(-16)}`, slotClass: "inspect" };
    const thief = await joined("b", { inspect: 0, encode: 0 }, "s-b", [forged]);
    expect((await thief.next("cancel")).lease).toBe(lease);
    await jobOf(env, spec.id).cancel();
    expect((await holder.next("cancel")).lease).toBe(lease);
  });

  it("notifies the node at once when its job is cancelled", async () => {
    const node = await joined("a", { inspect: 1, encode: 0 });
    const spec = await newJob();
    const { lease } = (await node.next("assign")).assignment;
    await jobOf(env, spec.id).cancel();
    expect((await node.next("cancel")).lease).toBe(lease);
  });

  it("shortens the leases of a lost connection, and renews the leases of a node that reconnects", async () => {
    const node = await joined("a", { inspect: 1, encode: 0 });
    const spec = await newJob();
    const { lease, token: proof } = (await node.next("assign")).assignment;
    node.say({ type: "progress", items: [{ lease, token: proof, stage: "transferring", fraction: 0.5 }] });
    const expiresIn = () =>
      runInDurableObject(
        jobOf(env, spec.id),
        (_, { storage }) => (loadState(storage)?.tasks[0]?.lease?.expiresAt ?? 0) - Date.now(),
      );
    await vi.waitFor(async () => expect(await expiresIn()).toBeGreaterThan(30_000));
    node.socket.close();
    await vi.waitFor(async () => expect(await expiresIn()).toBeLessThan(11_000));
    const back = await joined("a", { inspect: 0, encode: 0 }, "s-a", [
      { lease, token: proof, slotClass: "inspect" },
      { lease, token: "stale", slotClass: "inspect" },
    ]);
    await vi.waitFor(async () => expect(await expiresIn()).toBeGreaterThan(30_000));
    expect((await back.next("cancel")).lease).toBe(lease);
  });

  it("shortens the leases that a node does not name when it replaces its own connection", async () => {
    await joined("a", { inspect: 1, encode: 0 });
    const spec = await newJob();
    const expiresIn = () =>
      runInDurableObject(
        jobOf(env, spec.id),
        (_, { storage }) => (loadState(storage)?.tasks[0]?.lease?.expiresAt ?? 0) - Date.now(),
      );
    await vi.waitFor(async () => expect(await expiresIn()).toBeGreaterThan(30_000));
    // The assign frame was lost with the socket that the hub takes for open.
    await joined("a", { inspect: 0, encode: 0 });
    await vi.waitFor(async () => expect(await expiresIn()).toBeLessThan(11_000));
  });

  it("removes the slots of a node that drains or whose process was replaced", async () => {
    const old = await joined("a", { inspect: 1, encode: 1 }, "old");
    const fresh = await joined("a", { inspect: 0, encode: 0 }, "new");
    expect(await old.closed).toBe(1000);
    const draining = await joined("b", { inspect: 1, encode: 1 });
    draining.say({ type: "bye" });
    await settle();
    await newJob();
    await settle();
    expect([...fresh.frames, ...draining.frames]).toEqual([]);
  });

  it("uses a slot that a claim left free, and serves the oldest job first", async () => {
    const younger = await newJob();
    const older = await newJob({ createdAt: younger.createdAt - 1000 });
    // This ticket of a job that does not exist precedes all other tickets.
    const missing = offerOf("A".repeat(14), { accountId: older.accountId, slotClass: "inspect" });
    await hubOf(env).advertise([missing]);
    const node = await joined("a", { inspect: 1, encode: 0 });
    const { assignment } = await node.next("assign");
    expect(assignment.jobId).toBe(older.id);
    node.say({ type: "slots", offered: { inspect: 1, encode: 0 }, released: [assignment.lease] });
    expect((await node.next("assign")).assignment.jobId).toBe(younger.id);
  });

  it("closes the socket after an unexpected frame", async () => {
    const rows: [string, unknown[]][] = [
      ["no hello", [{ type: "bye" }]],
      ["no JSON", ["hello"]],
      ["an invalid frame", [hello("a", { inspect: 1, encode: 0 }), { type: "slots", offered: {} }]],
      ["hello twice", [hello("b", { inspect: 1, encode: 0 }), hello("b", { inspect: 1, encode: 0 })]],
      ["an unknown frame", [hello("a", { inspect: 1, encode: 0 }), { type: "weather", sunny: true }]],
      ["another protocol", [{ ...hello("a", { inspect: 1, encode: 0 }), protocol: 99 }]],
    ];
    for (const [what, frames] of rows) {
      const node = await connect();
      for (const frame of frames) node.say(frame);
      expect(await node.closed, what).toBe(1008);
    }
  });

  it("responds to pings without waking up", async () => {
    const node = await connect();
    const pong = new Promise((resolve) =>
      node.socket.addEventListener("message", ({ data }) => resolve(data), { once: true }),
    );
    node.socket.send("ping");
    expect(await pong).toBe("pong");
  });
});
