import { expect, it } from "vitest";
import type { TaskKind } from "#shared/protocol/tasks.ts";
import type { JobSpec } from "../../rpc/job-spec.ts";
import { checkedJob, newSpec } from "../../testing/jobs.ts";
import { newTask } from "../state/task-state.ts";
import { placementOf, requirementsOf } from "./requirements.ts";

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
  const found = requirementsOf(job, task, placementOf(job, "encode", 0)).needs;
  const folders = found.filter((need) => need.kind.endsWith("folder"));
  expect(folders.map((need) => `${need.kind} ${need.anyOf.join()}`)).toEqual(needs);
});
