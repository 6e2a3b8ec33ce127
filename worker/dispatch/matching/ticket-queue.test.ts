import { describe, expect, it } from "vitest";
import { NO_REQUIREMENTS } from "#shared/protocol/requirements.ts";
import { TicketQueue } from "./ticket-queue.ts";
import { type Ticket, ticketKey } from "./tickets.ts";

/** `name` is the account and the job's age, such as `a1`. */
const ticket = (name: string, changes: Partial<Ticket> = {}): Ticket => ({
  ...{ jobId: name, accountId: name.slice(0, 1), slotClass: "encode", count: 1, since: Number(name.slice(1)) },
  ...{ requirements: NO_REQUIREMENTS, priority: 0, weight: 1, maxRunning: null, blamed: [] },
  ...{ prefer: null, preferUntil: 0, avoid: [], avoidUntil: 0, advertisedAt: 0, notBefore: 0 },
  ...changes,
});
const queueOf = (...names: string[]): TicketQueue => new TicketQueue(names.map((name) => ticket(name)));

function firstOf(queue: TicketQueue): Ticket | undefined {
  for (const [, tickets] of queue.accounts("encode")) return [...tickets][0];
  return undefined;
}

/** All that is left, each taken when its turn has come. */
function served(queue: TicketQueue): string[] {
  const names: string[] = [];
  for (;;) {
    const next = firstOf(queue);
    if (!next) return names;
    queue.take(next, 1);
    names.push(next.jobId);
  }
}

describe("the queue of tickets", () => {
  const rows: [string, string[], string[]][] = [
    ["an account's oldest job first", ["a3", "a1", "a2"], ["a1", "a2", "a3"]],
    ["account by account", ["a1", "a2", "a3", "b9", "b8", "c7"], ["a1", "b8", "c7", "a2", "b9", "a3"]],
  ];
  it.each(rows)("serves %s", (_, names, expected) => {
    expect(served(queueOf(...names))).toEqual(expected);
  });

  it("serves an account's one job before another account's thousands", () => {
    const queue = new TicketQueue(Array.from({ length: 4000 }, (_, age) => ticket(`a${age}`)));
    const first = firstOf(queue);
    queue.put(ticket("b5000"));
    queue.take(first as Ticket, 1);
    queue.put(ticket("a0", { count: 2 }));
    expect(served(queue).slice(0, 3)).toEqual(["b5000", "a0", "a0"]);
  });

  it("keeps the place of a job that advertises again, and removes one without tasks", () => {
    const queue = queueOf("a1", "b1", "a2", "a3");
    queue.put(ticket("a1", { advertisedAt: 5 }));
    queue.put(ticket("a2", { count: 0 }));
    expect(queue.size).toBe(3);
    expect(served(queue)).toEqual(["a1", "b1", "a3"]);
    expect(queue.size).toBe(0);
  });

  it("takes tasks back, unless the job has advertised again", () => {
    const queue = new TicketQueue([ticket("a1", { count: 5 })]);
    const offered = firstOf(queue);
    if (!offered) throw new Error("Nothing waits");
    queue.take(offered, 3);
    queue.giveBack(offered, 3, 9);
    expect(queue.get(ticketKey(offered))).toMatchObject({ count: 5, notBefore: 9 });
    queue.take(offered, 5);
    queue.giveBack(offered, 5, 9);
    expect(queue.get(ticketKey(offered))).toMatchObject({ count: 5, notBefore: 9 });
    queue.put(ticket("a1", { count: 1, advertisedAt: 8 }));
    queue.giveBack(offered, 3, 9);
    expect(queue.get(ticketKey(offered))).toMatchObject({ count: 1, notBefore: 0 });
  });

  it("writes no ticket that was taken at once, and all other changes", () => {
    const queue = queueOf("a1");
    expect(queue.takeChanges()).toEqual([]);
    queue.put(ticket("b1"));
    queue.take(ticket("b1"), 1);
    expect(queue.takeChanges()).toEqual([]);
    queue.put(ticket("c1"));
    queue.take(ticket("a1"), 1);
    expect(queue.takeChanges()).toEqual([
      ["c1:encode", ticket("c1")],
      ["a1:encode", null],
    ]);
    expect(queue.takeChanges()).toEqual([]);
  });
});
