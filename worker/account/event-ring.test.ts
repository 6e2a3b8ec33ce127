import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { type AccountEvent, accountOf } from "../rpc/account.ts";
import { EventRing, RING_SIZE } from "./event-ring.ts";
import { type Listener, newListener, nextWrite } from "./event-text.ts";

const event = (name: string, body = "{}"): AccountEvent => ({
  kind: "notification",
  key: name,
  data: { id: name, job_id: "J", event: "job.completed", body },
});
const START = 1000;

/** Runs a test with the storage of a new object. */
const withStorage = (test: (kv: SyncKvStorage) => void) =>
  runInDurableObject(accountOf(env, crypto.randomUUID()), (_, { storage }) => test(storage.kv));

function idsAfter(ring: EventRing, id: number): number[] {
  const ids: number[] = [];
  for (let next = ring.next(id); next; next = ring.next(next.id)) ids.push(next.id);
  return ids;
}

describe("the newest events of an account", () => {
  it("have increasing ids and are added only once, also after they were read from storage", async () => {
    await withStorage((kv) => {
      const ring = new EventRing(kv, START);
      ring.add([event("a"), event("b")], 2000);
      ring.add([event("a"), event("c")], 1500);
      for (const copy of [ring, new EventRing(kv, START)]) {
        expect(idsAfter(copy, START)).toEqual([2000, 2001, 2002]);
        expect([copy.floor, copy.last, copy.next(2001)?.data]).toEqual([START, 2002, event("c").data]);
        copy.add([event("c")], 3000);
        expect(copy.last).toBe(2002);
      }
    });
  });

  it("share an entry if they come together, unless they are large", async () => {
    await withStorage((kv) => {
      const large = "x".repeat(60_000);
      new EventRing(kv, START).add([event("a"), event("b"), event("c", large), event("d", large)], 2000);
      expect([...kv.list()].map(([, entry]) => (entry as object[]).length)).toEqual([3, 1]);
      expect(idsAfter(new EventRing(kv, START), START)).toEqual([2000, 2001, 2002, 2003]);
    });
  });

  it("are limited to 1,000 entries: each further entry replaces the oldest", async () => {
    await withStorage((kv) => {
      const ring = new EventRing(kv, START);
      for (let at = 0; at < RING_SIZE + 5; at++) ring.add([event(`e${at}`)], 2000);
      for (const copy of [ring, new EventRing(kv, START)]) {
        expect([copy.floor, idsAfter(copy, 0).length, copy.last]).toEqual([2004, RING_SIZE, 2000 + RING_SIZE + 4]);
        expect([...kv.list()].length).toBe(RING_SIZE);
      }
      new EventRing(kv, START).add([event("later")], 2000);
      expect(idsAfter(new EventRing(kv, START), 2000 + RING_SIZE + 4)).toEqual([2000 + RING_SIZE + 5]);
    });
  });

  it("are forgotten after a time, which leaves a gap", async () => {
    await withStorage((kv) => {
      const ring = new EventRing(kv, START);
      ring.add([event("a"), event("b")], 2000);
      ring.add([event("c")], 2002);
      ring.forget(2001);
      expect(ring.floor).toBe(START);
      ring.forget(2002);
      expect([ring.floor, idsAfter(ring, 0), [...kv.list()].length]).toEqual([2001, [2002], 1]);
      ring.forget(9000);
      expect([ring.floor, ring.last, idsAfter(ring, 0)]).toEqual([2002, 2002, []]);
      ring.add([event("a")], 2000);
      expect(idsAfter(ring, 0)).toEqual([2003]);
    });
  });

  it("can be read even if an event among them is unreadable", async () => {
    await withStorage((kv) => {
      new EventRing(kv, START).add([event("a")], 2000);
      new EventRing(kv, START).add([event("b")], 2000);
      kv.put("event:1", [{ id: "?" }]);
      const ring = new EventRing(kv, START);
      ring.add([event("c")], 2000);
      expect(idsAfter(ring, START)).toEqual([2000, 2001]);
    });
  });
});

describe("a listener", () => {
  const at = (changes: Partial<Listener> = {}): Listener => ({ id: 2000, isNew: false, ...changes });
  const text = (name: string, id: number) =>
    `event: notification\nid: ${id}\ndata: ${JSON.stringify(event(name).data)}\n\n`;
  const GAP = `event: gap\nid: ${START}\ndata: {"missed":true}\n\n`;
  const A = text("a", 2000);
  const B = text("b", 2001);

  it.each<[string, Listener, object]>([
    ["first where it continues", at({ id: 2001, isNew: true }), { write: "id: 2001\n\n" }],
    ["then what it has not", at({ id: 2000 }), { write: B, sent: at({ id: 2001 }) }],
    ["that it missed events", at({ id: 900 }), { write: GAP + A + B }],
    ["that first, if it never had any", at({ id: -1, isNew: true }), { write: `id: 2001\n\n${GAP}${A}${B}` }],
  ])("is sent %s", async (_, listener, expected) => {
    await withStorage((kv) => {
      const ring = new EventRing(kv, START);
      ring.add([event("a"), event("b")], 2000);
      expect(nextWrite(listener, ring)).toMatchObject(expected);
      expect(nextWrite(at({ id: 2001 }), ring)).toBeNull();
    });
  });

  it("starts with the next event, or after the event that it names", async () => {
    await withStorage((kv) => {
      const ring = new EventRing(kv, START);
      ring.add([event("a"), event("b")], 2000);
      const ids = [null, "2000", "12", "2002", "x", ""].map((id) => newListener(id, ring).id);
      expect(ids).toEqual([2001, 2000, 12, -1, -1, -1]);
    });
  });

  it("gets large events in several writes", async () => {
    await withStorage((kv) => {
      const ring = new EventRing(kv, START);
      const large = "x".repeat(200_000);
      ring.add([event("a", large), event("b", large), event("c", large)], 2000);
      const first = nextWrite(at({ id: START }), ring);
      expect(first).toMatchObject({ sent: { id: 2001 } });
      expect(first && "sent" in first && first.sent && nextWrite(first.sent, ring)).toMatchObject({
        sent: { id: 2002 },
      });
    });
  });
});
