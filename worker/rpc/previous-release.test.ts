// The calls of the previous release (commit 1fac0bd), which other objects still make for some minutes after a deploy.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { holdersOf } from "../job/effects/hub-calls.ts";
import { PROBE } from "../testing/jobs.ts";
import { hello, joined, newJob, useNodes } from "../testing/nodes.ts";
import { loadState } from "../testing/stored-state.ts";
import { FIRST_HUB, type HubBinding, type HubRpc, hubOf, type SentOffer, TOKEN_HEADER } from "./hub.ts";
import { jobOf } from "./job.ts";
import { previousTurn } from "./previous-turn.ts";
import { EMPTY_TURN } from "./turn.ts";

useNodes();

const NODE = { nodeId: "a", session: "s-a" };

it("a hub of the previous release claims tasks, sends progress, renews leases and reports lost connections", async () => {
  const { id, accountId } = await newJob();
  const job = jobOf(env, id);
  const [inspect] = await job.claim({ ...NODE, slotClass: "inspect", max: 2 });
  if (!inspect) throw new Error("Nothing was claimed");
  const { lease, token } = inspect;
  expect(await job.progress([{ lease, token, stage: "transferring", fraction: 0.5 }])).toEqual([]);
  expect(await job.renew([{ lease, token }])).toEqual({ accountId, dropped: [] });
  await job.suspect(NODE.session);
  const taskOf = async () =>
    (await runInDurableObject(job, (_, { storage }) => loadState(storage)))?.tasks.find(
      (task) => task.id === "inspect",
    );
  expect((await taskOf())?.lease).toMatchObject(NODE);
  expect(await job.renew([{ lease, token }])).toEqual({ accountId, dropped: [] });
  expect(await job.complete(lease, { token, result: { kind: "inspect", probe: PROBE } })).toEqual({
    ok: true,
    value: null,
  });
  expect(await job.renew([{ lease: `${id}.encode.7` as never, token }])).toMatchObject({ dropped: [`${id}.encode.7`] });
});

it("a turn with a job of the previous release is the calls that it knows", async () => {
  const { id, accountId } = await newJob();
  // Only the calls of that release.
  const { claim, progress, renew, suspect } = jobOf(env, id);
  const job = { claim, progress, renew, suspect } as never;
  const want = [{ ...NODE, slotClass: "inspect" as const, max: 1, requestId: "r", hub: "hub:default:0" }];
  const first = await previousTurn(job, { ...EMPTY_TURN, want });
  const [{ lease, token } = { lease: "" as never, token: "" }] = first.assigned[0] ?? [];
  const second = await previousTurn(job, {
    alive: [{ lease, token }],
    progress: [{ lease, token, stage: "transferring", fraction: 0.5 }],
    lost: [{ session: "other", hasEnded: false }],
    want: [],
  });
  expect(second).toMatchObject({ accountId, cancel: [], assigned: [] });
});

it("leases at a hub of the previous release last, because it does not report which ones its nodes have", async () => {
  const holders = () => Promise.reject(new TypeError('The RPC receiver does not implement the method "holders".'));
  const binding = { HUB: { getByName: () => ({ holders }) } } as unknown as HubBinding;
  const asked = [{ lease: "" as never, nodeId: "a", session: "s-a" }];
  expect(await holdersOf(binding, FIRST_HUB, asked)).toEqual(["held"]);
});

it("a Worker and jobs of the previous release connect nodes and advertise tasks", async () => {
  const hub = hubOf(env);
  const { webSocket } = await hub.fetch("https://hub/", { headers: { upgrade: "websocket", [TOKEN_HEADER]: "token" } });
  webSocket?.accept();
  webSocket?.send(JSON.stringify(hello("old", { inspect: 0, encode: 3 })));
  await expect.poll(() => hub.capacity()).toBe(3);
  const offer = {
    ...{ jobId: "A".repeat(14), accountId: "a", slotClass: "inspect", count: 1, since: 0 },
    ...{ prefer: null, preferUntil: 0, avoid: [], avoidUntil: 0 },
  } as SentOffer;
  const advertise = (hub as unknown as { advertise: (offer: SentOffer) => ReturnType<HubRpc["advertise"]> }).advertise;
  await advertise(offer);
  expect(await hub.stats()).toEqual({ nodes: 1, tickets: 1 });
  await advertise({ ...offer, count: 0 });
  expect(await hub.stats()).toEqual({ nodes: 1, tickets: 0 });
  await hub.revoke([]);
  const node = await joined("new", { inspect: 1, encode: 0 });
  expect(node.frames).toEqual([]);
  webSocket?.close();
});
