import { describe, expect, it } from "vitest";
import type { AttemptView, TaskList, TaskView } from "#shared/api/task-responses.ts";
import type { JobView } from "#shared/job/job-view.ts";
import { endedEvents, type NextStep, nextStep as nextStepOf, type SentEvents } from "./event-text.ts";

const ENCODE: TaskView = {
  id: "encode",
  kind: "encode",
  outputs: ["mp4"],
  status: "running",
  attempt: 1,
  progress: 0.1,
};
const SLOWER: TaskView = { ...ENCODE, progress: 0.2, fps: 48.5 };
const LOST: AttemptView = {
  ...{ task: "encode", attempt: 1, node: "a", outcome: "lost" },
  ...{ started_at: "2026-11-21T05:23:27.000Z", ended_at: "2026-11-21T05:23:29.000Z" },
};
const listOf = (tasks: TaskView[], attempts: AttemptView[] = []): TaskList => ({
  ...{ job_id: "3clA7G2GY8bXR5", tasks, attempts, attempts_dropped: 0 },
});
const NO_TASKS = listOf([]);

const nextStep = (sent: SentEvents | null, view: JobView, now: number, tasks: TaskList = NO_TASKS): NextStep =>
  nextStepOf(sent, { job: view, tasks: () => tasks }, now);

const job = (changes: Partial<JobView> = {}): JobView => ({
  id: "3clA7G2GY8bXR5",
  created_at: "2026-11-21 05:23:27 +0000",
  completed_at: null,
  status: "job.starting",
  progress: "10%",
  input: { status: "input.transferred" },
  outputs: [{ key: "mp4", type: "video", format: "mp4", status: "video.encoding", progress: "5%" }],
  ...changes,
});
const ENDED = job({ status: "job.completed", completed_at: "2026-11-21 05:24:00 +0000" });
const MOVED = job({ progress: "20%", outputs: [{ ...job().outputs[0], progress: "15%" } as JobView["outputs"][0]] });
const QUEUED = job({ outputs: [{ key: "mp4", type: "video", format: "mp4", status: "video.queued" }] });

/** What a follower was sent who has seen `job()` at time 1000. */
function sentAt1000(): SentEvents {
  const first = nextStep(null, job(), 1000);
  if (!("write" in first) || !first.sent) throw new Error("nothing was sent");
  return first.sent;
}
const event = (name: string, id: number, view: JobView): string =>
  `event: ${name}\nid: ${id}\ndata: ${JSON.stringify(view)}\n\n`;

describe("a follower of a job", () => {
  it("is first sent the job's view, and the retry interval", () => {
    expect(nextStep(null, job(), 1000)).toMatchObject({ write: `retry: 2000\n\n${event("job", 1, job())}` });
  });

  it.each<[string, JobView, number, object]>([
    ["nothing while nothing changes", job(), 1000, { waitMs: 15_000 }],
    ["that the stream lives, after a while without a change", job(), 16_000, { write: ": ping\n\n" }],
    ["progress not at once", MOVED, 1100, { waitMs: 400 }],
    ["progress after half a second", MOVED, 1500, { write: event("job", 2, MOVED) }],
    ["a status at once", QUEUED, 1001, { write: event("job", 2, QUEUED) }],
    ["to come again with its key, after ten minutes", MOVED, 601_000, { write: ": connect again\n\n", sent: null }],
    ["the end at once, twice", ENDED, 1001, { write: event("job", 2, ENDED) + event("end", 3, ENDED), sent: null }],
  ])("is then sent %s", (_, view, now, expected) => {
    expect(nextStep(sentAt1000(), view, now)).toMatchObject(expected);
  });

  it("gets progress no later because of a ping", () => {
    const pinged = nextStep(sentAt1000(), job(), 16_000);
    const sent = "write" in pinged ? pinged.sent : null;
    expect(nextStep(sent, MOVED, 16_001)).toMatchObject({ write: event("job", 2, MOVED) });
    expect(nextStep(sent, job(), 16_001)).toEqual({ waitMs: 14_999 });
  });

  it("is sent the same events after the end, from the row", () => {
    expect(nextStep(null, ENDED, 1000)).toEqual({ write: endedEvents(JSON.stringify(ENDED)), sent: null });
  });

  it("is sent the changes of tasks, at most twice a second, and those at the end", () => {
    const tasksEvent = (id: number, data: object): string =>
      `event: tasks\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
    const all = { tasks: [ENCODE], removed: [], attempts: [] };
    const first = nextStep(null, job(), 1000, listOf([ENCODE]));
    expect(first).toMatchObject({ write: `retry: 2000\n\n${event("job", 1, job())}${tasksEvent(2, all)}` });
    const sent = "write" in first ? first.sent : null;
    expect(nextStep(sent, job(), 1200, listOf([ENCODE]))).toEqual({ waitMs: 300 });
    expect(nextStep(sent, job(), 1500, listOf([ENCODE]))).toEqual({ waitMs: 14_500 });
    expect(nextStep(sent, job(), 1499, listOf([SLOWER]))).toEqual({ waitMs: 1 });
    const changed = nextStep(sent, job(), 1500, listOf([SLOWER]));
    expect(changed).toMatchObject({ write: tasksEvent(3, { tasks: [SLOWER], removed: [], attempts: [] }) });
    const later = "write" in changed ? changed.sent : null;
    expect(nextStep(later, QUEUED, 1501, listOf([], [LOST]))).toMatchObject({ write: event("job", 4, QUEUED) });
    const last = { tasks: [], removed: ["encode"], attempts: [LOST] };
    expect(nextStep(later, ENDED, 1501, listOf([], [LOST]))).toEqual({
      write: event("job", 4, ENDED) + tasksEvent(5, last) + event("end", 6, ENDED),
      sent: null,
    });
  });
});
