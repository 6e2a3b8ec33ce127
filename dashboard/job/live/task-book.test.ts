import { describe, expect, it } from "vitest";
import type { Attempt, Task } from "../../../client/index.ts";
import { applyChanges, attemptKey, EMPTY_BOOK, replaceTasks, type TaskBook } from "./task-book.ts";

const at = (seconds: number): string => new Date(seconds * 1000).toISOString();
const running = (id: string, more: Partial<Task> = {}): Task => ({
  id,
  kind: "chunk",
  outputs: ["mp4"],
  status: "running",
  attempt: 1,
  node: "attic",
  progress: 0,
  started_at: at(100),
  stage: "transferring",
  ...more,
});
const lost = (task: string, outcome: Attempt["outcome"] = "lost"): Attempt => ({
  task,
  kind: "encode",
  attempt: 1,
  node: "attic",
  started_at: at(100),
  ended_at: at(110),
  outcome,
});
const changed = (book: TaskBook, tasks: Task[], removed: string[] = [], attempts: Attempt[] = [], seconds = 100) =>
  applyChanges(book, { tasks, removed, attempts }, seconds * 1000);

describe("the tasks of a job", () => {
  it("adds up the tasks of all events", () => {
    const first = changed(EMPTY_BOOK, [running("a"), running("b")]);
    const second = changed(first, [running("b", { progress: 0.5 })], ["a"], [lost("a")]);
    expect([...second.tasks.values()]).toEqual([running("b", { progress: 0.5 })]);
    expect(second.attempts).toEqual([lost("a")]);
    // A stream that is opened again sends all tasks again.
    expect(changed(second, [running("b")], [], [lost("a")]).attempts).toEqual([lost("a")]);
    expect(changed(second, [], [], [lost("a", "completed")]).attempts).toEqual([lost("a", "completed")]);
    const list = { job_id: "x", tasks: [running("c")], attempts: [], attempts_dropped: 3 };
    expect(replaceTasks(second, list, 0)).toMatchObject({ attempts: [] });
  });

  it("keeps the time at which a stage was first seen", () => {
    const key = attemptKey("a", 1);
    let book = changed(EMPTY_BOOK, [running("a")], [], [], 101);
    book = changed(book, [running("a", { stage: "encoding" })], [], [], 104);
    book = changed(book, [running("a", { stage: "encoding", progress: 0.5 })], [], [], 105);
    book = changed(book, [running("a", { stage: "uploading" })], [], [], 107);
    const late = changed(EMPTY_BOOK, [running("b", { stage: "uploading" })], [], [], 130);
    expect(late.stages.get(attemptKey("b", 1))).toEqual([
      { stage: "encoding", atMs: 100_000 },
      { stage: "uploading", atMs: 130_000 },
    ]);
    expect(book.stages.get(key)).toEqual([
      { stage: "transferring", atMs: 100_000 },
      { stage: "encoding", atMs: 104_000 },
      { stage: "uploading", atMs: 107_000 },
    ]);
  });
});
