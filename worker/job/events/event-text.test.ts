import { describe, expect, it } from "vitest";
import type { JobView } from "#shared/job/job-view.ts";
import { endedEvents, nextStep, type SentEvents } from "./event-text.ts";

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
});
