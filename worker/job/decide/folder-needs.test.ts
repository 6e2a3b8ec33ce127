import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { Failure } from "#shared/errors.ts";
import type { TaskKind } from "#shared/protocol/tasks.ts";
import { jobOf } from "../../rpc/job.ts";
import type { JobSpec } from "../../rpc/job-spec.ts";
import { claim } from "../../testing/job-steps.ts";
import { checkedJob, newSpec } from "../../testing/jobs.ts";
import { claimFrom } from "../../testing/turns.ts";
import type { JobState } from "../state/job-state.ts";
import { newTask } from "../state/task-state.ts";
import { viewJob } from "../views/job-view.ts";
import { taskFor } from "./node-task.ts";
import { requirementsOf } from "./requirements.ts";
import { failTask } from "./task-ends.ts";

const input = { kind: "folder", folder: "media", key: "a.mov" } as const;
const media = { kind: "folder", folder: "media", path: "" } as const;
const storage = { ...media, folder: "archive" };

it.each<[TaskKind, Partial<JobSpec>, needs: string[]]>([
  ["inspect", { input, storage }, ["folder media", "writable folder archive"]],
  ["chunk", { input, storage }, ["folder media"]],
  ["audio", { input, storage }, ["folder media"]],
  ["encode", { input, storage }, ["folder media", "writable folder archive"]],
  ["encode", { input, storage: media }, ["writable folder media"]],
  ["encode", { storage }, ["writable folder archive"]],
  ["join", { input, storage }, ["writable folder archive"]],
  ["join", { input }, []],
])("a task of kind %s with %j needs %j", async (kind, sections, needs) => {
  const job = checkedJob({ ...(await newSpec()), ...sections });
  const task = newTask({ kind, round: 0, outputs: [0] });
  const required = requirementsOf(job, task).needs;
  const folders = required.filter((need) => need.kind.endsWith("folder"));
  expect(folders.map((need) => `${need.kind} ${need.anyOf.join()}`)).toEqual(needs);
});

const NOW = 1_000_000;
const failed = ({ code, message }: Failure) => ({ error_code: code, error: message });
const SECRETS = { sourceUrl: "folder://media/a.mov", streamKeys: new Map(), chunking: null };

it.each([
  [storage, "folder://archive/"],
  [{ ...media, path: "out/a b" }, "folder://media/out/a%20b/"],
])("the inspection checks the storage %j at the place of the first output", async (given, prefix) => {
  const job = checkedJob({ ...(await newSpec()), input, storage: given });
  const task = taskFor(job, newTask({ kind: "inspect", round: 0, outputs: [] }), SECRETS);
  expect(task).toMatchObject({ storesAt: expect.stringContaining(prefix) });
  const elsewhere = checkedJob({ ...(await newSpec()), input });
  expect(taskFor(elsewhere, newTask({ kind: "inspect", round: 0, outputs: [] }), SECRETS)).not.toHaveProperty(
    "storesAt",
  );
});

it("a folder that rejects files fails the outputs at the inspection, and not the input", async () => {
  const job = checkedJob({ ...(await newSpec()), input, storage });
  const failure = { code: "storage_denied", message: "The folder `archive` is full." } as const;
  const view = viewJob(failTask(job, "inspect", failure, NOW));
  expect(view).toMatchObject({ status: "job.failed", outputs: [failed(failure), failed(failure)] });
  expect(view.input).not.toHaveProperty("error_code");
});

it("a folder that is not mounted on a node is checked by another node, before the outputs fail", async () => {
  const failure = { code: "storage_unreachable", message: "The folder `archive` is not mounted." } as const;
  const leased = (job: JobState, count: number) =>
    claim(job, `t${count}`, NOW + count * 60_000, `node-${count}`, "inspect").state;
  let job = failTask(leased(checkedJob({ ...(await newSpec()), input, storage }), 0), "inspect", failure, NOW);
  expect(job.tasks).toMatchObject([{ phase: "pending", avoid: ["node-0"] }]);
  for (let count = 1; count < 9 && job.completedAt === null; count++) {
    job = failTask(leased(job, count), "inspect", failure, NOW + count * 60_000);
  }
  expect(viewJob(job)).toMatchObject({ status: "job.failed", outputs: [failed(failure), failed(failure)] });
});

it.each<[Partial<JobSpec>, object]>([
  [{ input }, { status: "job.failed", input: { error_code: "input_http_403" } }],
  [{ storage }, { status: "job.failed", outputs: Array(2).fill({ error_code: "storage_denied" }) }],
])("a queued job with %j ends when a node wants it and the account has lost the folder", async (sections, view) => {
  const spec = { ...(await newSpec()), ...sections };
  const job = jobOf(env, spec.id);
  await job.create(spec);
  const want = { nodeId: "node", session: "session", max: 1 };
  expect(await claimFrom(job, { ...want, slotClass: "inspect" })).toEqual([]);
  const seen = await job.view();
  expect(seen.ok && seen.value).toMatchObject(view);
});
