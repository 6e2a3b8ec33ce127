// A pool with several hubs: each has a part of the nodes, and a job finds the node wherever it is.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, it, vi } from "vitest";
import { NAME_HEADER } from "#shared/protocol/frames.ts";

import { capacityOf } from "../job/effects/hub-calls.ts";
import { type HubBinding, hubForNode, hubNames, hubOf, hubsFor } from "../rpc/hub.ts";
import { jobOf } from "../rpc/job.ts";
import { bearer, newNodeToken, PROBE, send } from "../testing/jobs.ts";
import { connect, hello, newJob, useNodes } from "../testing/nodes.ts";
import { loadState } from "../testing/stored-state.ts";

useNodes();
const bindings: HubBinding = env;
afterEach(() => {
  bindings.HUBS = "";
});

const ONE = { inspect: 1, encode: 1 };
const names = Array.from({ length: 30 }, (_, number) => `node-${number}`);
const hubOfNode = (name: string) => hubForNode(env, "default", name, null);
const nodesOf = async (hub: string) => (await hubOf(env, hub).stats()).nodes;

/** A connected node of this name. */
async function joinedAs(name: string, slots = ONE) {
  const token = await newNodeToken();
  const node = await connect(token, { [NAME_HEADER]: name });
  node.say(hello(name, slots));
  await node.next("welcome");
  return { ...node, token };
}

it("each node is at the hub of its name, also when it returns", async () => {
  bindings.HUBS = "default*3";
  const hubs = hubNames(env, "default");
  for (const name of names.slice(0, 9)) await joinedAs(name);
  const expected = hubs.map((hub) => names.slice(0, 9).filter((name) => hubOfNode(name) === hub).length);
  expect(await Promise.all(hubs.map(nodesOf))).toEqual(expected);
  expect(expected.every((count) => count > 0)).toBe(true);
});

it.each([0, 1, 2])("a job finds the only node at hub %i, and the node hears of the job's end there", async (shard) => {
  bindings.HUBS = "default*3";
  const hub = `hub:default:${shard}`;
  const spec = await newJob();
  const node = await joinedAs(names.find((name) => hubOfNode(name) === hub) ?? "");
  const { lease, token: proof } = (await node.next("assign")).assignment;
  const tickets = () =>
    Promise.all(hubNames(env, "default").map(async (name) => (await hubOf(env, name).stats()).tickets));
  const before = await tickets();
  expect(lease.split(".")[0]).toBe(spec.id);
  const body = { token: proof, result: { kind: "inspect", probe: PROBE } };
  await send(`/v2/nodes/leases/${lease}/complete`, { method: "POST", body, headers: bearer(node.token) });
  const encode = (await node.next("assign")).assignment;
  expect(encode.task.kind).toBe("encode");
  const state = await runInDurableObject(jobOf(env, spec.id), (_, { storage }) => loadState(storage));
  // The hub of the node that has the source was asked first, and no other.
  expect(await tickets()).toEqual(before);
  const held = state?.tasks.find(({ kind }) => kind === "encode")?.lease;
  expect(held?.hub).toBe(shard === 0 ? undefined : hub);
  await jobOf(env, spec.id).cancel();
  expect((await node.next("cancel")).lease).toBe(encode.lease);
});

it("in a pool of many hubs a job asks two, and the others if these know no node that fits", async () => {
  bindings.HUBS = "default*6";
  const spec = await newJob();
  const first = hubsFor(env, "default", spec.id).slice(0, 2);
  const name = names.find((one) => !first.includes(hubOfNode(one))) ?? "";
  const node = await joinedAs(name);
  expect((await node.next("assign")).assignment.jobId).toBe(spec.id);
});

it("a hub with free slots borrows what waits at another", async () => {
  bindings.HUBS = "default*3";
  const nodeOf = (hub: string) => names.find((name) => hubOfNode(name) === hub) ?? "";
  for (const hub of hubNames(env, "default")) await joinedAs(nodeOf(hub), { inspect: 0, encode: 0 });
  const spec = await newJob();
  const [, second = "", third = ""] = hubsFor(env, "default", spec.id);
  await vi.waitFor(async () => expect((await hubOf(env, second).stats()).tickets).toBe(1));
  expect((await hubOf(env, third).stats()).tickets).toBe(0);
  const idle = await joinedAs(names.find((name) => hubOfNode(name) === third && name !== nodeOf(third)) ?? "");
  expect((await idle.next("assign")).assignment.jobId).toBe(spec.id);
});

it("a source is split by the encodes of all hubs of its pool", async () => {
  bindings.HUBS = "default*3";
  for (const name of names.slice(0, 6)) await joinedAs(name);
  expect(await capacityOf(env, "default")).toBe(6);
});
