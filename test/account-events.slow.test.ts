// Listens to the events of an account during network outages and kills of the control plane.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type AccountEvent, Copra } from "../client/index.ts";
import { type FaultProxy, startFaultProxy } from "./faults/fault-proxy.ts";
import { startTestStack, type TestStack } from "./stack.ts";

let stack: TestStack;
let proxy: FaultProxy;
const stop = new AbortController();

beforeAll(async () => {
  stack = await startTestStack({ nodes: 0 });
  proxy = await startFaultProxy(new URL(stack.api).origin);
});
afterAll(async () => {
  stop.abort();
  await proxy?.close();
  await stack?.stop();
});

/** Creates and cancels jobs; returns their ids. Each job causes three events. */
async function endJobs(copra: Copra, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let created = 0; created < count; created++) {
    const { id } = await copra.jobs.create({
      input: { url: "http://127.0.0.1:9/video.mp4" },
      storage: { service: "coconut" },
      outputs: { "mp4:240p": { path: "a.mp4" } },
      notification: { type: "none", events: true },
    });
    await copra.jobs.cancel(id);
    ids.push(id);
  }
  return ids;
}

async function killControlPlane(): Promise<void> {
  const { controlPlane } = stack.pids();
  process.kill(controlPlane, "SIGKILL");
  await expect.poll(() => stack.pids().controlPlane).not.toBe(controlPlane);
  const isBack = async (): Promise<boolean> => (await stack.request("GET", "/health")).status === 200;
  await expect.poll(() => isBack().catch(() => false)).toBe(true);
}

const stepOf = ({ event, data }: AccountEvent): string =>
  event === "job" ? data.status : event === "notification" ? `notified of ${data.event}` : event;
const jobOf = ({ event, data }: AccountEvent): string =>
  event === "job" ? data.id : event === "notification" ? data.job_id : "";

it("delivers 201 events once and in order per job, although the network fails and the service is killed", async () => {
  const copra = new Copra({ url: stack.api, key: stack.apiKey });
  const far = new Copra({ url: stack.api.replace(new URL(stack.api).origin, proxy.origin), key: stack.apiKey });
  const events: AccountEvent[] = [];
  let reconnects = 0;
  const onReconnect = (): void => void reconnects++;
  const listening = (async () => {
    for await (const event of far.events({ signal: stop.signal, onReconnect })) events.push(event);
  })().catch((error: unknown) => error);
  await expect.poll(() => proxy.requests.length).toBe(1);
  await sleep(500);

  const ids = await endJobs(copra, 7);
  for (const outage of [1, 2, 3]) {
    proxy.disconnect();
    ids.push(...(await endJobs(copra, 10)));
    proxy.restore();
    ids.push(...(await endJobs(copra, 5)));
    // Kill at once, while the events of the last jobs are still on their way.
    if (outage === 2) await killControlPlane();
  }
  ids.push(...(await endJobs(copra, 15)));
  await killControlPlane();

  await expect.poll(() => events.length).toBeGreaterThanOrEqual(3 * ids.length);
  // Duplicates would arrive late.
  await sleep(2000);
  const steps = ["job.starting", "job.aborted", "notified of job.aborted"];
  const byJob = Map.groupBy(events, jobOf);
  expect(ids.map((id) => byJob.get(id)?.map(stepOf))).toEqual(ids.map(() => steps));
  expect(events.length).toBe(201);
  const numbers = events.map(({ id }) => Number(id));
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
  expect(reconnects).toBeGreaterThanOrEqual(3);
  stop.abort();
  await listening;
});
