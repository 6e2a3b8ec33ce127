import { describe, expect, it } from "vitest";
import type { Attempt, Command, Task } from "../../../client/index.ts";
import { applyChanges, EMPTY_BOOK } from "../live/task-book.ts";
import { type Bar, barsOf, nameOf, runsOf } from "./bars.ts";
import { chunkMap } from "./chunk-map.ts";
import { layOut, panned, steadyPeriod, ticksOf, wholePeriod, zoomed } from "./layout.ts";
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
const ended = (
  id: string,
  node: string,
  from: number,
  to: number,
  outcome: Attempt["outcome"],
  attempt = 1,
): Attempt => ({
  task: id,
  kind: "chunk",
  attempt,
  node,
  started_at: at(from),
  ended_at: at(to),
  outcome,
});
const bookOf = (tasks: Task[], attempts: Attempt[] = []) =>
  applyChanges(EMPTY_BOOK, { tasks, removed: [], attempts }, 0);
const bars = (tasks: Task[], attempts: Attempt[] = [], commands: Command[] = []): Bar[] =>
  barsOf(bookOf(tasks, attempts), runsOf(commands));
const brief = ({ task: id, attempt, node, fromMs, toMs, state }: Bar) =>
  [`${id}.${attempt} ${node}`, fromMs / 1000, toMs === null ? null : toMs / 1000, state] as const;

describe("the bars of a job", () => {
  it.each<[string, Bar[], ReturnType<typeof brief>[]]>([
    ["leave out what no node has taken", bars([task("chunk-0", {})]), []],
    ["run while a node works", bars([did("chunk-0", "a", 5)]), [["chunk-0.1 a", 5, null, "running"]]],
    [
      "are one for a task and its ended attempt",
      bars([did("chunk-0", "a", 5, 9)], [ended("chunk-0", "a", 5, 9, "completed")]),
      [["chunk-0.1 a", 5, 9, "completed"]],
    ],
    [
      "are one for each attempt",
      bars([did("chunk-0", "b", 20, undefined, { attempt: 2 })], [ended("chunk-0", "a", 5, 19, "lost")]),
      [
        ["chunk-0.1 a", 5, 19, "lost"],
        ["chunk-0.2 b", 20, null, "running"],
      ],
    ],
    [
      "run when a node that was lost has reported after all",
      bars([did("chunk-0", "a", 5)], [ended("chunk-0", "a", 5, 19, "lost")]),
      [["chunk-0.1 a", 5, null, "running"]],
    ],
    [
      "show a speculative attempt that was not needed",
      bars([did("chunk-0", "a", 5, 19)], [ended("chunk-0-speculative", "b", 9, 19, "superseded")]),
      [
        ["chunk-0.1 a", 5, 19, "completed"],
        ["chunk-0-speculative.1 b", 9, 19, "superseded"],
      ],
    ],
  ])("the bars of a job %s", (_, bars, expected) => expect(bars.map(brief)).toEqual(expected));

  it("marks the bars of speculative attempts and of earlier starts", () => {
    const [first, second, third] = bars(
      [did("chunk-0", "a", 5, 19)],
      [ended("chunk-0-speculative", "b", 9, 19, "superseded"), ended("chunk-7-old", "b", 12, 13, "failed")],
    );
    expect([first?.isSpeculative, second?.isSpeculative]).toEqual([false, true]);
    expect(second).toMatchObject({ chunk: { number: 1 }, isEarlier: false });
    expect(third).toMatchObject({ kind: "chunk", isEarlier: true });
    expect([first, second, third].map((bar) => bar && nameOf(bar))).toEqual(["chunk 1", "chunk 1", "chunk-7-old"]);
  });

  it("returns the same bar objects while nothing changes", () => {
    const first = bookOf(
      [did("chunk-0", "a", 5, 19), did("chunk-1", "a", 19)],
      [ended("chunk-0", "a", 5, 19, "completed")],
    );
    const changes = { tasks: [did("chunk-1", "a", 19, undefined, { progress: 0.5 })], removed: [], attempts: [] };
    const [before, after] = [barsOf(first), barsOf(applyChanges(first, changes, 0))];
    expect(after[0]).toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);
  });

  it("divides a bar by the runs of ffmpeg, or by the observed stages", () => {
    const run = { task: "chunk-0", attempt: 1, node: "a", argv: [], exit_code: 0 };
    const runs = [
      { ...run, started_at: at(7), seconds: 2 },
      { ...run, started_at: at(9), seconds: 5 },
    ];
    const parts = (bar: Bar | undefined) => bar?.parts.map(({ stage, fromMs, toMs }) => [stage, fromMs, toMs]);
    expect(parts(bars([did("chunk-0", "a", 5, 16)], [], runs)[0])).toEqual([
      ["transferring", 5000, 7000],
      ["encoding", 7000, 14_000],
      ["uploading", 14_000, 16_000],
    ]);
    const first = applyChanges(
      EMPTY_BOOK,
      { tasks: [did("chunk-0", "a", 5, undefined, { stage: "transferring" })], removed: [], attempts: [] },
      6000,
    );
    const second = applyChanges(
      first,
      { tasks: [did("chunk-0", "a", 5, undefined, { stage: "encoding" })], removed: [], attempts: [] },
      8000,
    );
    expect(parts(barsOf(second)[0])).toEqual([
      ["transferring", 5000, 8000],
      ["encoding", 8000, null],
    ]);
  });
});

describe("the lanes of nodes", () => {
  const lanes = (bars: Bar[]) => Object.fromEntries(layOut(bars).placed.map(({ bar, lane }) => [bar.task, lane]));

  it.each<[string, Bar[], Record<string, number>]>([
    [
      "are one for what comes one after the other",
      bars([did("chunk-0", "a", 0, 5), did("chunk-1", "a", 5, 9)]),
      { "chunk-0": 0, "chunk-1": 0 },
    ],
    [
      "are two for what overlaps",
      bars([did("chunk-0", "a", 0, 5), did("chunk-1", "a", 2, 9)]),
      { "chunk-0": 0, "chunk-1": 1 },
    ],
    [
      "are used again when free",
      bars([did("chunk-0", "a", 0, 5), did("chunk-1", "a", 2, 9), did("chunk-2", "a", 5)]),
      { "chunk-0": 0, "chunk-1": 1, "chunk-2": 0 },
    ],
    [
      "are the same for a claim that is stored before the report",
      bars([did("chunk-0", "a", 0, 10), did("chunk-1", "a", 9.5, 20)]),
      { "chunk-0": 0, "chunk-1": 0 },
    ],
    [
      "are two for short tasks at the same time",
      bars([did("chunk-0", "a", 0, 0.9), did("chunk-1", "a", 0.1, 0.9)]),
      { "chunk-0": 0, "chunk-1": 1 },
    ],
    [
      "do not end while a task runs",
      bars([did("chunk-0", "a", 0), did("chunk-1", "a", 100)]),
      { "chunk-0": 0, "chunk-1": 1 },
    ],
    [
      "follow each other by nodes",
      bars([did("chunk-0", "b", 0), did("chunk-1", "a", 1), did("chunk-2", "b", 2)]),
      { "chunk-0": 0, "chunk-2": 1, "chunk-1": 2 },
    ],
  ])("the lanes of nodes %s", (_, bars, expected) => expect(lanes(bars)).toEqual(expected));

  it("keeps the lanes of bars while bars are added and end", () => {
    /** Lanes of bars, counted within their nodes. */
    const ownLanes = (bars: Bar[]) => {
      const { nodes, placed } = layOut(bars);
      const first = new Map(nodes.map(({ node, lane }) => [node, lane]));
      return new Map(placed.map(({ bar, lane }) => [bar.task, lane - (first.get(bar.node) ?? 0)]));
    };
    const all = Array.from({ length: 60 }, (_, n) => ({ n, node: `node-${n % 3}`, from: n * 2, to: n * 2 + 11 }));
    const seenAt = (second: number) =>
      all
        .filter(({ from }) => from <= second)
        .map(({ n, node, from, to }) => did(`chunk-${n}`, node, from, to <= second ? to : undefined));
    const final = ownLanes(bars(seenAt(1000)));
    expect(new Set(final.values())).toEqual(new Set([0, 1]));
    for (let second = 0; second < 130; second += 7) {
      for (const [id, lane] of ownLanes(bars(seenAt(second)))) expect([id, lane]).toEqual([id, final.get(id)]);
    }
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

  it("zooms around a point and moves the period, inside the whole", () => {
    const whole = { fromMs: 0, toMs: 100_000 };
    const near = zoomed(whole, whole, 0.5, 25_000);
    expect(near).toEqual({ fromMs: 12_500, toMs: 62_500 });
    expect(panned(near, whole, -0.5)).toEqual({ fromMs: 0, toMs: 50_000 });
    expect(panned(near, whole, 2)).toEqual({ fromMs: 50_000, toMs: 100_000 });
    expect(zoomed(near, whole, 10, 25_000)).toBe(whole);
    expect(zoomed(whole, whole, 0, 25_000)).toEqual({ fromMs: 24_875, toMs: 25_375 });
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
    expect(map?.cells.map(({ status, done }) => [status, done])).toEqual([
      ["completed", 1],
      ["running", 0.5],
      ["completed", 1],
      ["waiting", 0],
    ]);
    expect(chunkMap([did("chunk-0", "a", 0, 5)])?.completeToSeconds).toBe(30);
    expect(chunkMap([did("encode", "a", 0)])).toBeNull();
  });

  it("shows the attempt with the most progress for each chunk", () => {
    const slow = did("chunk-0", "a", 0, undefined, { stage: "encoding", progress: 0.2 });
    const fast = did("chunk-0-speculative", "b", 9, undefined, { stage: "encoding", progress: 0.4 });
    for (const tasks of [
      [slow, fast],
      [fast, slow],
    ]) {
      expect(chunkMap(tasks)?.cells).toMatchObject([
        { task: "chunk-0-speculative", isDouble: true, attempts: 2, done: 0.4 },
      ]);
    }
  });
});

describe("the phases of a job", () => {
  it("lists the phases of a job without gaps", () => {
    const encode = bars([
      did("inspect", "a", 2, 4),
      did("chunk-0", "a", 5, 20),
      did("audio", "b", 5, 30),
      did("join", "a", 31),
    ]);
    expect(phasesOf(encode, 0, 35_000).map(({ name, fromMs, toMs }) => [name, fromMs / 1000, toMs / 1000])).toEqual([
      ["waiting", 0, 2],
      ["inspecting", 2, 5],
      ["encoding", 5, 31],
      ["joining", 31, 35],
    ]);
    expect(phasesOf([], 0, 9000)).toEqual([{ name: "waiting", fromMs: 0, toMs: 9000 }]);
  });
});
