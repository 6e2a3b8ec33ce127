// Streams of events over bad connections.
import { Copra, JobFailed } from "../index.ts";
import { type Case, collected, equal, scenario } from "./scenario.ts";

export const STREAM_CASES = Object.entries<Case[1]>({
  "a job is followed to its end over connections that are lost": async (origin) => {
    const { copra, requests } = scenario(origin, "follow");
    const seen = (await collected(copra.jobs.follow("job"))).map(({ progress }) => Number.parseInt(progress, 10));
    // Browsers discard unread data of a lost connection, so the last events before the loss may be missing.
    equal([seen, seen.at(-1)], [seen.toSorted((a, b) => a - b), 100]);
    equal((await requests()).length, 3);
    equal((await copra.jobs.wait("job")).status, "job.completed");
  },
  "a job with too many followers is polled": async (origin) => {
    const { url } = scenario(origin, "crowded");
    const copra = new Copra({ url, key: "k", retries: 0 });
    let polls = 0;
    const onPoll = (): void => {
      polls += 1;
    };
    equal(
      (await collected(copra.jobs.events("job", { onPoll }))).map(({ event }) => event),
      ["job", "end"],
    );
    equal(polls, 1);
  },
  "waiting for a job that fails throws its errors": async (origin) => {
    const { copra } = scenario(origin, "failing");
    const error = await copra.jobs.wait("job").catch((reason: unknown) => reason);
    if (!(error instanceof JobFailed)) throw new Error(`Not a JobFailed: ${error}`);
    equal(error.message, "The job job has the status job.failed; mp4: No space");
  },
  "events of the account arrive once and in order, also over lost connections": async (origin) => {
    // Each connection brings two events: the next two after the event that its request names.
    const { copra, requests } = scenario(origin, "events");
    const events = await collected(copra.events({ lastEventId: "2" }), 6);
    equal(
      events.map(({ id }) => id),
      ["3", "4", "5", "6", "7", "8"],
    );
    equal((await requests()).length >= 3, true);
  },
  "a rejected connection is tried again when the service allows it": async (origin) => {
    const { copra, requests } = scenario(origin, "down");
    const abort = new AbortController();
    // Without the service's wait of 60 s, the next request would come within a second.
    const onReconnect = (): void => void setTimeout(() => abort.abort(), 1500);
    await collected(copra.events({ signal: abort.signal, onReconnect })).catch(() => undefined);
    equal((await requests()).length, 1);
  },
  "a connection without a sign of life is replaced": async (origin) => {
    const { copra, requests } = scenario(origin, "silent");
    const reconnects: unknown[] = [];
    const options = { silenceSeconds: 1, onReconnect: (error: unknown) => reconnects.push(error) };
    equal(
      (await collected(copra.events(options), 1)).map(({ event }) => event),
      ["gap"],
    );
    // On a busy machine, several requests may time out, including requests that never arrived.
    equal([(await requests()).length >= 2, reconnects.length >= 1], [true, true]);
  },
});
