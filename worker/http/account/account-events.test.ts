import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { JobEvent, NotificationEventData } from "#shared/api/account-responses.ts";
import { accountOf } from "../../rpc/account.ts";
import { jobOf } from "../../rpc/job.ts";
import { basic, jobBody, newAccount, PROBE, send } from "../../testing/jobs.ts";
import { loadState } from "../../testing/stored-state.ts";
import { claimOne } from "../../testing/turns.ts";

let account: Awaited<ReturnType<typeof newAccount>>;
beforeEach(async () => {
  account = await newAccount();
});

const DAY_MS = 24 * 60 * 60_000;
const ask = async (method: string, path: string, body?: unknown) => (await account.request(method, path, body)).body;
const notification = { type: "http", url: "http://127.0.0.1:9/hook", events: true };
const newJob = async (): Promise<string> => (await ask("POST", "/v2/jobs", jobBody({ notification }))).id;
const cancel = (id: string) => ask("DELETE", `/v2/jobs/${id}`);
const stateOf = (id: string) => runInDurableObject(jobOf(env, id), (_, { storage }) => loadState(storage));
const stream = (headers: Record<string, string> = {}) =>
  exports.default.fetch(
    new Request("https://copra.test/v2/events", { headers: { ...basic(account.key), ...headers } }),
  );

// biome-ignore lint/suspicious/noExplicitAny: tests read data like a client
type Heard = { event: string; id: string; data: any };

/** A client of the stream that reads like browsers (HTML Living Standard, event stream interpretation). */
async function listen(lastEventId?: string) {
  const response = await stream(lastEventId === undefined ? {} : { "last-event-id": lastEventId });
  expect(response.status).toBe(200);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let id = lastEventId ?? "";
  const read = async (): Promise<string[]> => {
    while (!text.includes("\n\n")) {
      const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
      if (done) throw new Error("The stream ended");
      text += value;
    }
    const [message = ""] = text.split("\n\n", 1);
    text = text.slice(message.length + 2);
    return message.split("\n");
  };
  const next = async (): Promise<Heard> => {
    for (;;) {
      const lines = await read();
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      id = field("id") ?? id;
      const data = field("data");
      if (data) return { event: field("event") ?? "", id, data: JSON.parse(data) };
    }
  };
  // The first message of the stream.
  await read().then((lines) => {
    expect(lines[0]).toBe("retry: 2000");
    id = lines[1]?.replace("id: ", "") ?? "";
  });
  const close = async () => void (await reader?.cancel());
  onTestFinished(close);
  return { next, close, lastId: () => id, headers: response.headers };
}
const summary = ({ event, data }: Heard): string => (event === "job" ? data.status : (data.event ?? event));
const heard = async (listener: { next(): Promise<Heard> }, count: number): Promise<string[]> => {
  const all: string[] = [];
  while (all.length < count) all.push(summary(await listener.next()));
  return all;
};

async function inspect(id: string): Promise<void> {
  const task = await claimOne(jobOf(env, id), "inspect", "node");
  const result = { kind: "inspect", probe: PROBE } as const;
  await jobOf(env, id).complete(task.lease, { token: task.token, result });
}

describe("GET /v2/events", () => {
  it("sends creation, notifications and end of each job of the account, as they happen", async () => {
    const listener = await listen();
    expect(listener.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const id = await newJob();
    const created = await listener.next();
    expect(created).toMatchObject({ event: "job", data: { id, status: "job.starting", completed_at: null } });
    expect(created.data.outputs).toEqual({ completed: 0, failed: 0, total: 2 });
    await inspect(id);
    const transferred = await listener.next();
    const sent = (await stateOf(id))?.outbox[0];
    expect(transferred.data).toEqual({ id: `msg_${id}_1`, job_id: id, event: "input.transferred", body: sent?.body });
    await cancel(id);
    const [ended, aborted] = [await listener.next(), await listener.next()];
    expect(ended.data).toMatchObject({ id, status: "job.aborted", progress: "100%" });
    expect(aborted.data).toMatchObject({ id: `msg_${id}_2`, event: "job.aborted" });
    for (const { event, data } of [created, transferred, ended, aborted])
      expect((event === "job" ? JobEvent : NotificationEventData).parse(data)).toEqual(data);
    await ask("POST", `/v2/jobs/${id}/retry`);
    expect(summary(await listener.next())).toBe("job.starting");
    await cancel(id);
    expect(await heard(listener, 2)).toEqual(["job.aborted", "job.aborted"]);
  });

  it("sends a notification again when it is replayed", async () => {
    const id = await newJob();
    await cancel(id);
    await vi.waitFor(async () => expect((await stateOf(id))?.outbox[0]?.attempts).toBe(1));
    const listener = await listen();
    await ask("POST", `/v2/jobs/${id}/notifications/msg_${id}_1/replay`);
    expect((await listener.next()).data).toMatchObject({ id: `msg_${id}_1`, event: "job.aborted" });
  });

  it("continues after Last-Event-ID with each event once and in order, also when objects restarted", async () => {
    const first = await listen();
    const start = first.lastId();
    const [one, two] = [await newJob(), await newJob()];
    expect(await heard(first, 2)).toEqual(["job.starting", "job.starting"]);
    const id = first.lastId();
    await first.close();
    await cancel(one);
    await vi.waitFor(async () => expect((await stateOf(one))?.status).toBe("job.aborted"));
    await evictDurableObject(accountOf(env, account.id));
    await evictDurableObject(jobOf(env, two));
    await cancel(two);
    const expected = ["job.aborted", "job.aborted", "job.aborted", "job.aborted"];
    const again = await listen(id);
    expect(await heard(again, 4)).toEqual(expected);
    await again.close();
    const all = await listen(start);
    expect(await heard(all, 6)).toEqual(["job.starting", "job.starting", ...expected]);
  });

  it.each(["1795238607123", "1", "99999999999999", "later"])(
    "reports a gap after the unknown event id %s",
    async (lastEventId) => {
      const listener = await listen();
      await newJob();
      await listener.next();
      const other = await listen(lastEventId);
      const gap = await other.next();
      expect(gap).toMatchObject({ event: "gap", data: { missed: true } });
      expect(Number(gap.id)).toBeGreaterThan(Date.now() - DAY_MS);
      expect(summary(await other.next())).toBe("job.starting");
    },
  );

  it("sends no event of another account, and allows twenty streams", async () => {
    const mine = await Promise.all(Array.from({ length: 20 }, () => listen()));
    const refused = await stream();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "10"]);
    expect(await refused.json()).toMatchObject({ error_code: "rate_limited", status: "error" });
    const owner = account;
    account = await newAccount();
    const other = await listen();
    await newJob();
    expect(summary(await other.next())).toBe("job.starting");
    account = owner;
    const id = await newJob();
    for (const listener of mine) expect((await listener.next()).data.id).toBe(id);
  });

  it("sends missed events, as long as notifications are kept", async () => {
    const object = accountOf(env, account.id);
    const events = () =>
      runInDurableObject(object, (_, { storage }) =>
        [...storage.kv.list<object[]>({ prefix: "event:" })].flatMap(([, entry]) => entry),
      );
    const first = await listen();
    const start = first.lastId();
    await first.close();
    await cancel(await newJob());
    await vi.waitFor(async () => expect(await events()).toHaveLength(3));
    const later = await listen(start);
    expect(await heard(later, 3)).toEqual(["job.starting", "job.aborted", "job.aborted"]);
    await later.close();
    // The object notices at its next write that the listener has left.
    await newJob();
    await vi.waitFor(async () => expect(await events()).toHaveLength(4));
    await runInDurableObject(object, (_, { storage }) => {
      for (const [key, entry] of [...storage.kv.list<{ id: number }[]>({ prefix: "event:" })]) {
        storage.kv.put(
          key,
          entry.map((event) => ({ ...event, id: event.id - 8 * DAY_MS })),
        );
      }
    });
    await evictDurableObject(object);
    expect(await runDurableObjectAlarm(object)).toBe(true);
    expect(await events()).toEqual([]);
    expect((await (await listen(start)).next()).event).toBe("gap");
  });

  it.each([{}, basic("k-0000"), { authorization: "Bearer x" }])("rejects the credentials %j", async (headers) => {
    const { status, body } = await send("/v2/events", { headers: headers as Record<string, string> });
    expect([status, body.error_code]).toEqual([401, "authentication_failed"]);
  });
});
