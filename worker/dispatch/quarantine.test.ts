// The failures that a node reports decide about its next tasks.
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import type { Assignment } from "#shared/protocol/tasks.ts";
import { hubOf } from "../rpc/hub.ts";
import { joined, newJob, settle, useNodes } from "../testing/nodes.ts";

useNodes();

const ONE_INSPECT = { inspect: 1, encode: 0 };
/** Retries of failed tasks wait for a second. */
const SELDOM = { interval: 50 };

it.each([
  { code: "node_failed", state: "quarantined" },
  { code: "input_not_media", state: "ready" },
])("a node that fails four jobs with $code is $state", async ({ code, state }) => {
  const node = await joined("a", ONE_INSPECT);
  const jobs = await Promise.all(Array.from({ length: 4 }, () => newJob()));
  const failed = new Set<string>();
  const fail = ({ lease, token, jobId }: Assignment): void => {
    failed.add(jobId);
    const report = { lease, verb: "fail", body: { token, failure: { code, message: "It broke" } } };
    node.say({ type: "report", id: failed.size, report });
    node.say({ type: "slots", offered: ONE_INSPECT, released: [lease] });
  };
  await vi.waitFor(async () => {
    for (const frame of node.frames.splice(0)) if (frame.type === "assign") fail(frame.assignment);
    expect([failed.size, (await hubOf(env).node("a"))?.state]).toEqual([4, state]);
  }, SELDOM);
  const next = await newJob();
  const assigned = () => node.frames.flatMap((frame) => (frame.type === "assign" ? [frame.assignment.jobId] : []));
  if (state === "ready") return vi.waitFor(() => expect(assigned()).toContain(next.id));
  await settle();
  // Tasks assigned before the last failure was known may still arrive.
  expect(assigned()).not.toContain(next.id);
  const other = await joined("b", ONE_INSPECT);
  expect([...jobs, next].map(({ id }) => id)).toContain((await other.next("assign")).assignment.jobId);
});
