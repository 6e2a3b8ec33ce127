import { describe, expect, it } from "vitest";
import { replay } from "../../notify/outbox.ts";
import { NOW, spec, useSpec } from "../../testing/job-steps.ts";
import { cancelJob, retryJob } from "../decide/client-moves.ts";
import type { JobState } from "../state/job-state.ts";
import { newJob } from "../state/job-state.ts";
import { areEventsDue, dueEvents } from "./account-events.ts";

useSpec();

const LATER = NOW + 1000;
const HOUR_MS = 60 * 60_000;
const job = (): JobState => newJob({ ...spec, notification: { ...spec.notification, events: true } }, NOW);
function cancelled(state: JobState): JobState {
  const next = cancelJob(state, LATER);
  if (!next) throw new Error("It was not cancelled");
  return next;
}
/** The names of the events to send, and the state after they were sent. */
function sent(state: JobState): { events: string[]; after: JobState } {
  const { events, emitted } = dueEvents(state);
  const names = events.map((event) => {
    if (event.kind === "notification") return event.data.id.replace(/^.*_/, "");
    return event.kind === "job" ? event.data.status : event.kind;
  });
  return { events: areEventsDue(state) ? names : [], after: { ...state, emitted } };
}
const eventsOf = (state: JobState): string[] => sent(state).events;

describe("the events of a job", () => {
  it("sends the creation of a job, then each change once", () => {
    const created = sent(job());
    expect(created.events).toEqual(["job.starting"]);
    expect(eventsOf(created.after)).toEqual([]);
    const ended = sent(cancelled(created.after));
    expect(ended.events).toEqual(["job.aborted", "1"]);
    const again = retryJob(ended.after, LATER);
    expect(again && eventsOf(again)).toEqual(["job.starting"]);
  });

  it("sends the creation even if the job ended before it could be sent", () => {
    expect(eventsOf(cancelled(job()))).toEqual(["job.starting", "job.aborted", "1"]);
  });

  it("sends a notification again for each replay, with another key", () => {
    const { after: ended } = sent(cancelled(job()));
    const after = { ...ended, outbox: ended.outbox.map((delivery) => ({ ...delivery, attempts: 1 })) };
    const keys: string[] = [];
    for (const at of [LATER, LATER + HOUR_MS]) {
      const again = replay(after.outbox, `msg_${spec.id}_1`, at);
      if (!again || !("replayed" in again)) throw new Error("It was not replayed");
      const replayed = { ...after, outbox: again.outbox };
      expect(eventsOf(replayed)).toEqual(["1"]);
      keys.push(...dueEvents(replayed).events.map(({ key }) => key));
      expect(eventsOf(sent(replayed).after)).toEqual([]);
    }
    expect(new Set(keys).size).toBe(2);
  });

  it("sends many events in portions", () => {
    const ended = cancelled(job());
    const [delivery] = ended.outbox;
    if (!delivery) throw new Error("There is no delivery");
    const outbox = Array.from({ length: 40 }, (_, at) => ({ ...delivery, id: `msg_${at + 1}` }));
    let state: JobState = { ...ended, outbox };
    const ids: string[] = [];
    const sizes: number[] = [];
    while (areEventsDue(state)) {
      const { events, after } = sent(state);
      sizes.push(events.length);
      ids.push(...events);
      state = after;
    }
    expect(sizes).toEqual([17, 15, 10]);
    expect(ids.slice(2)).toEqual(outbox.map(({ id }) => id.replace("msg_", "")));
  });
});
