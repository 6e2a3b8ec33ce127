import { describe, expect, it } from "vitest";
import type { Attempt, Command, Task } from "../../../client/index.ts";
import { applyChanges, EMPTY_BOOK } from "../live/task-book.ts";
import { type Bar, barsOf, nameOf, runsOf } from "./bars.ts";
import { chunkMap } from "./chunk-map.ts";
import { recentPeriod, rowsOf, steadyPeriod, ticksOf, wholePeriod } from "./layout.ts";
import { phasesOf } from "./phases.ts";

const at = (seconds: number): string => new Date(seconds * 1000).toISOString();
const task = (id: string, more: Partial<Task>): Task => {
  const [, number] = /^chunk-(\d+)/.exec(id) ?? [];
  const chunk = number && { number: +number + 1, from_seconds: +number * 30, to_seconds: +number * 30 + 30 };
  const kind = number ? "chunk" : (id as Task["kind"]);
  const status = more.ended_at ? "completed" : more.started_at ? "running" : "waiting";
  const attempt = more.started_at ? 1 : 0;
  return { id, kind, outputs: ["mp4"], status, attempt, progress: 0, ...(chunk ? { chunk } : {}), ...more };
};
/** A task that node `node` did between two seconds; without `to` it runs. */
const did = (id: string, node: string, from: number, to?: number, more: Partial<Task> = {}): Task =>
  task(id, { node, started_at: at(from), ...(to === undefined ? {} : { ended_at: at(to) }), ...more });
type Outcome = Attempt["outcome"];
const ended = (task: string, node: string, from: number, to: number, outcome: Outcome): Attempt => {
  return { task, kind: "chunk", attempt: 1, node, started_at: at(from), ended_at: at(to), outcome };
};
const NO_CHANGES = { tasks: [], removed: [], attempts: [] };
const bookOf = (tasks: Task[], attempts: Attempt[] = []) =>
  applyChanges(EMPTY_BOOK, { tasks, removed: [], attempts }, 0);
const bars = (tasks: Task[], attempts: Attempt[] = [], commands: Command[] = []): Bar[] =>
  barsOf(bookOf(tasks, attempts), runsOf(commands));
const brief = ({ task: id, attempt, node, fromMs, toMs, state }: Bar): string =>
  `${id}.${attempt} ${node} ${fromMs / 1000}-${toMs === null ? "" : toMs / 1000} ${state}`;

describe("the bars of a job", () => {
  const DONE = did("chunk-0", "a", 5, 19);
  const AGAIN = did("chunk-0", "b", 20, undefined, { attempt: 2 });
  const LOST = ended("chunk-0", "a", 5, 19, "lost");
  const UNNEEDED = ended("spare", "b", 9, 19, "superseded");
  it.each<[string, Bar[], string[]]>([
    ["leave out what no node has taken", bars([task("chunk-0", {})]), []],
    ["run while a node works", bars([did("chunk-0", "a", 5)]), ["chunk-0.1 a 5- running"]],
    [
      "are one for a task and its ended attempt",
      bars([did("chunk-0", "a", 5, 9)], [ended("chunk-0", "a", 5, 9, "completed")]),
      ["chunk-0.1 a 5-9 completed"],
    ],
    ["are one for each attempt", bars([AGAIN], [LOST]), ["chunk-0.1 a 5-19 lost", "chunk-0.2 b 20- running"]],
    [
      "run when a node that was lost has reported after all",
      bars([did("chunk-0", "a", 5)], [LOST]),
      ["chunk-0.1 a 5- running"],
    ],
    [
      "show a speculative attempt that was not needed",
      bars([DONE], [UNNEEDED]),
      ["chunk-0.1 a 5-19 completed", "spare.1 b 9-19 superseded"],
    ],
  ])("the bars of a job %s", (_, bars, expected) => expect(bars.map(brief)).toEqual(expected));

  it("marks the bars of speculative attempts and of earlier starts", () => {
    const spare = { ...UNNEEDED, speculative_of: "chunk-0" };
    const [first, second, third] = bars([DONE], [spare, ended("chunk-7-old", "b", 12, 13, "failed")]);
    expect([first?.isSpeculative, second?.isSpeculative]).toEqual([false, true]);
    expect(second).toMatchObject({ chunk: { number: 1 }, isEarlier: false });
    expect(third).toMatchObject({ kind: "chunk", isEarlier: true });
    expect([first, second, third].map((bar) => bar && nameOf(bar))).toEqual(["chunk 1", "chunk 1", "chunk-7-old"]);
  });

  it("divides a bar by the runs of ffmpeg, or by the observed stages", () => {
    const run = { task: "chunk-0", attempt: 1, node: "a", argv: [], exit_code: 0 };
    const runs = [[7, 2] as const, [9, 5] as const].map(([from, seconds]) => ({
      ...run,
      started_at: at(from),
      seconds,
    }));
    const parts = (bar?: Bar) => bar?.parts.map(({ stage, fromMs, toMs }) => `${stage} ${fromMs}-${toMs}`);
    const stages = parts(bars([did("chunk-0", "a", 5, 16)], [], runs)[0]);
    expect(stages).toEqual(["transferring 5000-7000", "encoding 7000-14000", "uploading 14000-16000"]);
    const changed = (stage: Task["stage"]) => ({
      ...NO_CHANGES,
      tasks: [did("chunk-0", "a", 5, undefined, { stage })],
    });
    const fetching = applyChanges(EMPTY_BOOK, changed("transferring"), 6000);
    const observed = parts(barsOf(applyChanges(fetching, changed("encoding"), 8000))[0]);
    expect(observed).toEqual(["transferring 5000-8000", "encoding 8000-null"]);
  });
});

describe("the slots of nodes", () => {
  const B2 = did("chunk-2", "b", 2);
  const chunk = (index: number, from: number, to?: number, node = "a") => did(`chunk-${index}`, node, from, to);
  it.each<[string, Bar[], string]>([
    ["share a row for tasks one after the other", bars([chunk(0, 0, 5), chunk(1, 5, 9)]), "0 1"],
    ["have a row each for overlapping tasks", bars([chunk(0, 0, 5), chunk(1, 2, 9)]), "0 | 1"],
    ["are used again when free", bars([chunk(0, 0, 5), chunk(1, 2, 9), chunk(2, 5)]), "0 2 | 1"],
    ["share a row for a claim that is stored before the report", bars([chunk(0, 0, 10), chunk(1, 9.5, 20)]), "0 1"],
    ["have a row each for short tasks at the same time", bars([chunk(0, 0, 0.9), chunk(1, 0.1, 0.9)]), "0 | 1"],
    ["stay occupied while a task runs", bars([chunk(0, 0), chunk(1, 100)]), "0 | 1"],
    ["follow each other by nodes", bars([chunk(0, 0, undefined, "b"), chunk(1, 1), B2]), "0 | 2 / 1"],
  ])("the slots of nodes %s", (_, bars, expected) => {
    const text = (slot: readonly Bar[]): string => slot.map(({ task }) => task.replace("chunk-", "")).join(" ");
    const nodes = rowsOf(bars).map(({ slots }) => slots.map(text).join(" | "));
    expect(nodes.join(" / ")).toBe(expected);
  });
});

describe("the shown period", () => {
  const period = (bars: Bar[], createdS: number, nowS: number, endsS: number | null, isOver = false) => {
    const { fromMs, toMs } = wholePeriod(bars, {
      createdMs: createdS * 1000,
      nowMs: nowS * 1000,
      endsMs: endsS === null ? null : endsS * 1000,
      isOver,
    });
    return [fromMs / 1000, toMs / 1000];
  };
  it.each<[string, number[], number[]]>([
    ["is ten seconds at first", period([], 100, 101, null), [100, 110]],
    ["grows in steps", period(bars([did("chunk-0", "a", 102)]), 100, 116, null), [100, 120]],
    ["reaches to the estimated end", period(bars([did("chunk-0", "a", 102)]), 100, 116, 180), [100, 190]],
    ["begins with the work after a long wait", period(bars([did("chunk-0", "a", 500)]), 100, 516, null), [500, 520]],
    ["ends with the job", period(bars([did("chunk-0", "a", 101, 200)]), 100, 900, null, true), [100, 202]],
    ["grows by hours at last", period(bars([did("chunk-0", "a", 0)]), 0, 7201, null), [0, 10_800]],
  ])("the shown period %s", (_, period, expected) => expect(period).toEqual(expected));

  it("does not follow each change of the estimated end", () => {
    const [short, long, longest] = [60_000, 90_000, 120_000].map((toMs) => ({ fromMs: 0, toMs }));
    if (!short || !long || !longest) throw new Error("No periods");
    expect(steadyPeriod(null, short)).toBe(short);
    expect(steadyPeriod(short, long)).toBe(long);
    expect(steadyPeriod(long, short)).toBe(long);
    expect(steadyPeriod(longest, short)).toBe(short);
    expect(steadyPeriod(long, { fromMs: 1000, toMs: 61_000 })).toEqual({ fromMs: 1000, toMs: 61_000 });
  });

  it("offers the last ten minutes of longer jobs, until now or until the end", () => {
    const whole = { fromMs: 0, toMs: 1_500_000 };
    expect(recentPeriod(whole, 700_000)).toEqual({ fromMs: 124_000, toMs: 724_000 });
    expect(recentPeriod(whole, 9_000_000)).toEqual({ fromMs: 900_000, toMs: 1_500_000 });
    expect(recentPeriod(whole, 500_000)).toBeNull();
  });

  it("places marks at round times", () => {
    const scale = { fromMs: 1000, toMs: 61_000, width: 600 };
    expect(ticksOf(scale, 1000, 80)).toEqual([0, 10, 20, 30, 40, 50, 60]);
    expect(ticksOf(scale, 500, 290)).toEqual([30, 60]);
    expect(ticksOf({ fromMs: 0, toMs: 300, width: 600 }, 0, 100)).toEqual([0, 0.1, 0.2, 0.3]);
    expect(ticksOf({ fromMs: 0, toMs: 10_000, width: 0 }, 0, 80)).toEqual([0]);
  });
});

describe("the map of chunks", () => {
  it("counts chunks as complete up to the first incomplete chunk", () => {
    const map = chunkMap([
      did("chunk-0", "a", 0, 5),
      did("chunk-1", "a", 5, undefined, { stage: "encoding", progress: 0.5 }),
      did("chunk-2", "b", 0, 9),
      task("chunk-3", {}),
      did("join", "a", 5),
    ]);
    expect(map).toMatchObject({ completed: 2, completeToSeconds: 30, seconds: 120 });
    const cells = map?.cells.map(({ status, done }) => `${status} ${done}`);
    expect(cells).toEqual(["completed 1", "running 0.5", "completed 1", "waiting 0"]);
    expect(chunkMap([did("chunk-0", "a", 0, 5)])?.completeToSeconds).toBe(30);
    expect(chunkMap([did("encode", "a", 0)])).toBeNull();
  });

  it("shows the attempt with the most progress for each chunk", () => {
    const slow = did("chunk-0", "a", 0, undefined, { stage: "encoding", progress: 0.2 });
    const fast = did("chunk-0-speculative", "b", 9, undefined, { stage: "encoding", progress: 0.4 });
    const expected = [{ isDouble: true, attempts: 2, done: 0.4 }];
    expect(chunkMap([slow, fast])?.cells).toMatchObject(expected);
    expect(chunkMap([fast, slow])?.cells).toMatchObject(expected);
  });
});

describe("the phases of a job", () => {
  it("lists the phases of a job without gaps", () => {
    const encode = [did("chunk-0", "a", 5, 20), did("audio", "b", 5, 30)];
    const whole = bars([did("inspect", "a", 2, 4), ...encode, did("join", "a", 31)]);
    const phases = phasesOf(whole, 0, 35_000).map(({ name, fromMs, toMs }) => `${name} ${fromMs}-${toMs}`);
    expect(phases).toEqual(["waiting 0-2000", "inspecting 2000-5000", "encoding 5000-31000", "joining 31000-35000"]);
    expect(phasesOf([], 0, 9000)).toEqual([{ name: "waiting", fromMs: 0, toMs: 9000 }]);
  });
});
