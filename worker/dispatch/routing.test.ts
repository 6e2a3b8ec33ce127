// Tests which node of a mixed fleet gets which job, over real sockets and objects.
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import { jobOf } from "../rpc/job.ts";
import type { JobSpec } from "../rpc/job-spec.ts";
import { newSpec } from "../testing/jobs.ts";
import { connect, hello, newJob, settle, type TestNode, useNodes } from "../testing/nodes.ts";

useNodes();

async function joinedWith(nodeId: string, changes: object): Promise<TestNode> {
  const node = await connect();
  node.say({ ...hello(nodeId, { inspect: 1, encode: 1 }), ...changes });
  await node.next("welcome");
  return node;
}
const jobWith = async (changes: Record<string, unknown>): Promise<JobSpec> => {
  const { settings, outputs } = await newSpec(changes);
  return newJob({ settings, outputs });
};
const waitingFor = async ({ id }: JobSpec): Promise<string | undefined> => {
  const view = await jobOf(env, id).view();
  return view.ok ? view.value.waiting_for : "no such job";
};

it("sends work to a node that can do it, and shows missing requirements until then", async () => {
  const encoders = ALL_SOFTWARE.encoders.filter((name) => !name.includes("av1"));
  const plain = await joinedWith("plain", {
    capabilities: { ffmpegVersion: "7.0", cpus: 2, ...ALL_SOFTWARE, encoders },
  });
  const av1 = await jobWith({ outputs: { "mp4:av1": { path: "/av1.mp4" } } });
  const labelled = await jobWith({ settings: { require: ["gpu"] } });
  await vi.waitFor(async () => {
    expect(await waitingFor(av1)).toMatch(/^a node with .*libsvtav1.* in pool default$/);
    expect(await waitingFor(labelled)).toBe("a node with label gpu in pool default");
  });
  const usual = await jobWith({});
  expect((await plain.next("assign")).assignment.jobId).toBe(usual.id);
  await settle();
  expect(plain.frames).toEqual([]);
  const able = await joinedWith("able", { labels: ["gpu"], slots: { inspect: 2, encode: 2 } });
  const jobs = [(await able.next("assign")).assignment.jobId, (await able.next("assign")).assignment.jobId];
  expect(jobs.toSorted()).toEqual([av1.id, labelled.id].toSorted());
  await vi.waitFor(async () =>
    expect([await waitingFor(av1), await waitingFor(labelled)]).toEqual([undefined, undefined]),
  );
});
