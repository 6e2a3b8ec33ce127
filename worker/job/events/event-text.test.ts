import { describe, expect, it } from "vitest";
import type { AttemptView, TaskList, TaskView } from "#shared/api/task-responses.ts";
import type { JobView } from "#shared/job/job-view.ts";
import type { EventStep } from "../../events/event-sockets.ts";
import { OPENING } from "../../events/socket-stream.ts";
import { endedEvents, newFollower, nextStep as nextStepOf, type SentEvents } from "./event-text.ts";

const RUNNING = { status: "running", attempt: 1, progress: 0.1 } as const;
const ENCODE: TaskView = { id: "encode", kind: "encode", outputs: ["mp4"], ...RUNNING };
const SLOWER: TaskView = { ...ENCODE, progress: 0.2, fps: 48.5 };
const LOST: AttemptView = {
  task: "encode",
  kind: "encode",
  attempt: 1,
  node: "a",
  outcome: "lost",
  started_at: "2026-11-21T05:23:27.000Z",
  ended_at: "2026-11-21T05:23:29.000Z",
};
const listOf = (tasks: TaskView[], attempts: AttemptView[] = []): TaskList => ({
  job_id: "3clA7G2GY8bXR5",
  tasks,
  attempts,
  attempts_dropped: 0,
});
const NO_TASKS = listOf([]);

const nextStep = (sent: SentEvents, view: JobView, now: number, tasks = NO_TASKS): EventStep<SentEvents> =>
  nextStepOf(sent, { job: view, tasks: () => tasks }, now);
/** The state of the follower after a step. */
function sentBy(step: EventStep<SentEvents>): SentEvents {
  if (!step || !("write" in step) || !step.sent) throw new Error("nothing was sent");
  return step.sent;
}
const job = (changes: Partial<JobView> = {}): JobView => ({
  id: "3clA7G2GY8bXR5",
  created_at: "2026-11-21 05:23:27 +0000",
  completed_at: null,
  ends_at: null,
  status: "job.starting",
  progress: "10%",
  input: { status: "input.transferred" },
  outputs: [{ key: "mp4", type: "video", format: "mp4", status: "video.encoding", progress: "5%" }],
  ...changes,
});
const ENDED = job({ status: "job.completed", completed_at: "2026-11-21 05:24:00 +0000" });
const MOVED = job({ progress: "20%", outputs: [{ ...job().outputs[0], progress: "15%" } as JobView["outputs"][0]] });
const QUEUED = job({ outputs: [{ key: "mp4", type: "video", format: "mp4", status: "video.queued" }] });

/** State of a follower that saw `job()` at time 1000. */
const SENT = sentBy(nextStep(newFollower(0), job(), 1000));
const event = (name: string, id: number, view: JobView): string =>
  `event: ${name}\nid: ${id}\ndata: ${JSON.stringify(view)}\n\n`;

describe("a follower of a job", () => {
  it("is first sent the job's view, with an id after its last event", () => {
    expect(nextStep(newFollower(0), job(), 1000)).toMatchObject({ write: event("job", 1, job()) });
    expect(nextStep(newFollower(7), job(), 1000)).toMatchObject({ write: event("job", 8, job()) });
  });

  it.each<[string, JobView, number, object | null]>([
    ["nothing while nothing changes", job(), 1000, null],
    ["progress not at once", MOVED, 1100, { waitMs: 400 }],
    ["progress after half a second", MOVED, 1500, { write: event("job", 2, MOVED) }],
    ["a status at once", QUEUED, 1001, { write: event("job", 2, QUEUED) }],
    ["the end at once, twice", ENDED, 1001, { write: event("job", 2, ENDED) + event("end", 3, ENDED), sent: null }],
  ])("is then sent %s", (_, view, now, expected) => {
    const step = nextStep(SENT, view, now);
    if (expected) expect(step).toMatchObject(expected);
    else expect(step).toBeNull();
  });

  it("is sent the same events after the end, from the row", () => {
    const step = nextStep(newFollower(0), ENDED, 1000);
    expect(step).toEqual({ write: endedEvents(JSON.stringify(ENDED)).replace(OPENING, ""), sent: null });
  });

  it("is sent the changes of tasks at most twice a second, and the last changes at the end", () => {
    const tasksEvent = (id: number, data: object): string =>
      `event: tasks\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
    const all = { tasks: [ENCODE], removed: [], attempts: [] };
    const first = nextStep(newFollower(0), job(), 1000, listOf([ENCODE]));
    expect(first).toMatchObject({ write: event("job", 1, job()) + tasksEvent(2, all) });
    const sent = sentBy(first);
    expect(nextStep(sent, job(), 1200, listOf([ENCODE]))).toEqual({ waitMs: 300 });
    expect(nextStep(sent, job(), 1500, listOf([ENCODE]))).toBeNull();
    expect(nextStep(sent, job(), 1499, listOf([SLOWER]))).toEqual({ waitMs: 1 });
    const changed = nextStep(sent, job(), 1500, listOf([SLOWER]));
    expect(changed).toMatchObject({ write: tasksEvent(3, { tasks: [SLOWER], removed: [], attempts: [] }) });
    const later = sentBy(changed);
    const status = nextStep(later, QUEUED, 1501, listOf([], [LOST]));
    expect(status).toMatchObject({ write: event("job", 4, QUEUED), hasMore: true });
    const early = nextStep({ ...sent, changedAt: 1400 }, MOVED, 1500, listOf([SLOWER]));
    expect(early).toMatchObject({ write: expect.stringMatching(/^event: tasks/), hasMore: true });
    expect(nextStep(sentBy(early), MOVED, 1500, listOf([SLOWER]))).toEqual({ waitMs: 400 });
    const last = { tasks: [], removed: ["encode"], attempts: [LOST] };
    expect(nextStep(later, ENDED, 1501, listOf([], [LOST]))).toEqual({
      write: event("job", 4, ENDED) + tasksEvent(5, last) + event("end", 6, ENDED),
      sent: null,
    });
  });
});
