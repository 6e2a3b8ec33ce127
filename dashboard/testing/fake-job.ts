// An invented job of many chunks on many nodes. It progresses as its time moves.
import type { Attempt, Command, Job, Task, TaskChanges, TaskList } from "../../client/index.ts";
import { randomOf } from "../../shared/testing/random.ts";

export type FakeJobOptions = {
  readonly id?: string;
  readonly chunks: number;
  readonly nodes: number;
  readonly slots: number;
  /** Seconds of the source in a chunk. */
  readonly chunkSeconds?: number;
  /** Mean seconds that a slot needs for a chunk. */
  readonly encodeSeconds: number;
  readonly startMs: number;
  /** The lost node, and the time of the loss in seconds after the start. */
  readonly lost?: { readonly node: number; readonly atSeconds: number };
  /** Chunks with a slow first attempt, which get a second attempt. */
  readonly slow?: readonly number[];
};

type Work = {
  task: string;
  kind: Task["kind"];
  /** Only of a second task for a slow chunk. */
  speculative_of?: string;
  chunk: number | null;
  node: string;
  from: number;
  to: number;
  attempt: number;
  outcome: Attempt["outcome"];
};

const NAMES = ["attic", "cellar", "garage", "harbor", "island", "jetty", "kiln", "loft", "mill", "nook"];
const iso = (ms: number): string => new Date(ms).toISOString();

/** The whole course of the job, planned in advance; `at` shows the job at a time. */
export class FakeJob {
  readonly options: FakeJobOptions;
  readonly works: Work[];
  readonly endMs: number;
  #sent = new Map<string, string>();
  #sentAttempts = 0;

  constructor(options: FakeJobOptions) {
    this.options = options;
    this.works = plan(options);
    this.endMs = Math.max(...this.works.map(({ to }) => to));
  }

  get id(): string {
    return this.options.id ?? "3clA7G2GY8bXR5";
  }

  job(now: number): Job {
    const isOver = now >= this.endMs;
    const list = this.list(now);
    const chunks = list.tasks.filter(({ kind }) => kind === "chunk");
    const done = chunks.reduce(
      (sum, { progress, stage, status }) => sum + (status === "completed" ? 1 : stage === "encoding" ? progress : 0),
      0,
    );
    const percent = isOver ? 100 : Math.min(99, Math.floor((done / Math.max(1, this.options.chunks)) * 95));
    const date = (ms: number): string => `${iso(ms).slice(0, 19).replace("T", " ")} +0000`;
    const status = isOver ? "httpstream.packaged" : done > 0 ? "httpstream.variants.encoding" : "httpstream.queued";
    return {
      id: this.id,
      created_at: date(this.options.startMs),
      completed_at: isOver ? date(this.endMs) : null,
      ends_at: isOver ? null : date(this.endMs),
      status: isOver ? "job.completed" : "job.starting",
      progress: `${percent}%`,
      input: { status: "input.transferred", source: "https://media.example.com/masters/sintel-4k.mov" },
      outputs: [
        {
          key: "httpstream",
          type: "httpstream",
          format: "httpstream",
          status,
          ...(isOver ? {} : { progress: `${percent}%` }),
        },
        { key: "mp4:1080p", type: "video", format: "mp4:1080p", status: isOver ? "video.encoded" : "video.encoding" },
      ],
      ultrafast: { chunks: this.options.chunks },
    };
  }

  list(now: number): TaskList {
    const started = this.works.filter(({ from }) => from <= now);
    const latest = new Map<string, Work>();
    for (const work of started) latest.set(work.task, work);
    const superseded = new Set(
      started.filter(({ outcome, to }) => outcome === "superseded" && to <= now).map(({ task }) => task),
    );
    const tasks = [
      ...[...latest.values()].filter(({ task }) => !superseded.has(task)).map((work) => this.#task(work, now)),
      ...Array.from({ length: this.options.chunks }, (_, n) => n)
        .filter((n) => now > this.options.startMs + 3000 && !started.some(({ chunk }) => chunk === n))
        .map(
          (n): Task => ({
            id: `chunk-${n}`,
            kind: "chunk",
            outputs: OUTPUTS,
            status: "waiting",
            chunk: this.#span(n),
            attempt: 0,
            progress: 0,
          }),
        ),
    ];
    const attempts = started
      .filter(({ to }) => to <= now)
      .sort((a, b) => a.to - b.to)
      .map(attemptOf);
    return {
      job_id: this.id,
      tasks,
      attempts: attempts.slice(-200),
      attempts_dropped: Math.max(0, attempts.length - 200),
    };
  }

  /** The changes since the last call. */
  changes(now: number): TaskChanges {
    const { tasks, attempts } = this.list(now);
    const texts = new Map(tasks.map((task) => [task.id, JSON.stringify(task)]));
    const changed = tasks.filter(({ id }) => this.#sent.get(id) !== texts.get(id));
    const removed = [...this.#sent.keys()].filter((id) => !texts.has(id));
    const all = this.works.filter(({ to }) => to <= now).length;
    const added = all === this.#sentAttempts ? [] : attempts.slice(-(all - this.#sentAttempts));
    this.#sent = texts;
    this.#sentAttempts = all;
    return { tasks: changed, removed, attempts: added };
  }

  commands(now: number): Command[] {
    return this.works
      .filter(({ to, outcome }) => to <= now && outcome === "completed")
      .map(({ task, attempt, node, from, to, kind }) => {
        const length = to - from;
        return {
          task,
          attempt,
          node,
          started_at: iso(from + length * 0.12),
          seconds: (length * 0.8) / 1000,
          exit_code: 0,
          argv: [
            "-y",
            "-nostdin",
            "-ss",
            "30",
            "-i",
            "source",
            "-vf",
            "scale=-2:1080,trim=end_frame=600",
            "-c:v",
            kind === "audio" ? "aac" : "libx264",
            "out.mp4",
          ],
        };
      });
  }

  #span(n: number): NonNullable<Task["chunk"]> {
    const length = this.options.chunkSeconds ?? 24;
    return { number: n + 1, from_seconds: n * length, to_seconds: (n + 1) * length };
  }

  #task({ task, kind, chunk, node, from, to, attempt, outcome, speculative_of }: Work, now: number): Task {
    const share = Math.min(1, (now - from) / (to - from));
    const isDone = now >= to && outcome === "completed";
    // A task waits between attempts.
    if (now >= to && !isDone)
      return { id: task, kind, outputs: OUTPUTS, status: "waiting", ...this.#chunkOf(chunk), attempt, progress: 0 };
    const stage = share < 0.12 ? "transferring" : share < 0.92 ? "encoding" : "uploading";
    const progress = isDone ? 1 : stage === "encoding" ? Math.round(((share - 0.12) / 0.8) * 1000) / 1000 : 0.5;
    const rate = stage === "encoding" && kind === "chunk" ? { fps: 96 + Math.round(share * 40), speed: 4.1 } : {};
    return {
      id: task,
      kind,
      outputs: OUTPUTS,
      ...this.#chunkOf(chunk),
      ...(speculative_of && { speculative_of }),
      attempt,
      node,
      started_at: iso(from),
      progress,
      ...(isDone
        ? { status: "completed", ended_at: iso(to), fps: 118.4, speed: 4.73 }
        : { status: "running", stage, ...rate }),
    };
  }

  #chunkOf(chunk: number | null): Pick<Task, "chunk"> {
    return chunk === null ? {} : { chunk: this.#span(chunk) };
  }
}

const OUTPUTS = ["httpstream", "mp4:1080p"];

const attemptOf = ({ task, kind, attempt, node, from, to, outcome, speculative_of }: Work): Attempt => ({
  task,
  kind,
  ...(speculative_of && { speculative_of }),
  attempt,
  node,
  started_at: iso(from),
  ended_at: iso(to),
  outcome,
  ...(outcome === "lost" ? { reason: "The node did not report again" } : {}),
  ...(outcome === "superseded" ? { reason: "Another attempt made the result" } : {}),
});

/** Gives each free slot the next chunk in order. Audio comes first, the join last. */
function plan({ chunks, nodes, slots, encodeSeconds, startMs, lost, slow = [] }: FakeJobOptions): Work[] {
  const random = randomOf(7);
  const begin = startMs + 3200;
  const nameOf = (slot: number): string => NAMES[slot % nodes] ?? `node-${slot % nodes}`;
  const free = Array.from({ length: slots }, (_, slot) => ({ slot, at: begin + slot * 90 }));
  const works: Work[] = [
    {
      task: "inspect",
      kind: "inspect",
      chunk: null,
      node: nameOf(0),
      from: startMs + 600,
      to: begin - 100,
      attempt: 1,
      outcome: "completed",
    },
  ];
  const queue: { chunk: number | null; attempt: number; notBefore: number }[] = [
    { chunk: null, attempt: 1, notBefore: 0 },
    ...Array.from({ length: chunks }, (_, chunk) => ({ chunk, attempt: 1, notBefore: 0 })),
  ];
  const lostMs = lost ? startMs + lost.atSeconds * 1000 : Number.POSITIVE_INFINITY;
  while (queue.length > 0) {
    free.sort((a, b) => a.at - b.at);
    const slot = free[0];
    const next = queue.shift();
    if (!slot || !next) break;
    const { chunk, attempt } = next;
    const from = Math.max(slot.at, next.notBefore);
    const node = nameOf(slot.slot);
    const isSlow = chunk !== null && slow.includes(chunk) && attempt === 1;
    const length = encodeSeconds * 1000 * (chunk === null ? 2.2 : 0.75 + random() * 0.5) * (isSlow ? 3 : 1);
    const task = chunk === null ? "audio" : `chunk-${chunk}`;
    const base = { kind: chunk === null ? "audio" : "chunk", task, chunk, node, from, attempt } as const;
    const isLost = lost !== undefined && slot.slot % nodes === lost.node && from < lostMs && from + length > lostMs;
    if (isLost) {
      works.push({ ...base, to: lostMs + 4000, outcome: "lost" });
      queue.unshift({ chunk, attempt: attempt + 1, notBefore: lostMs + 4200 });
      slot.at = Number.POSITIVE_INFINITY;
      continue;
    }
    if (isSlow) {
      const helper = free[1];
      const second = from + encodeSeconds * 1800;
      const done = second + encodeSeconds * 900;
      works.push({ ...base, to: done, outcome: "superseded" });
      works.push({
        ...base,
        task: `${task}-speculative`,
        speculative_of: task,
        node: nameOf(helper?.slot ?? 1),
        from: second,
        to: done,
        outcome: "completed",
      });
      slot.at = done + 60;
      if (helper) helper.at = done + 60;
      continue;
    }
    works.push({ ...base, to: from + length, outcome: "completed" });
    slot.at = from + length + 60;
  }
  const end = Math.max(...works.map(({ to }) => to));
  works.push({
    task: "join",
    kind: "join",
    chunk: null,
    node: nameOf(2),
    from: end + 150,
    to: end + 150 + encodeSeconds * 700,
    attempt: 1,
    outcome: "completed",
  });
  return works.sort((a, b) => a.from - b.from);
}
