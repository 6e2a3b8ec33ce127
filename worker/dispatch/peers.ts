// The other hubs of a pool: a hub whose work waits notifies them, and those with free slots borrow it.
import { messageOf } from "#shared/log.ts";
import type { HubEnv } from "../bindings.ts";
import { log } from "../log.ts";
import { withDeadline } from "../rpc/deadline.ts";
import { type Capacity, hubNames, hubOf, LentTicket } from "../rpc/hub.ts";
import { poolOf } from "../rpc/hub-layout.ts";

/** Work that waits so long is lent: most is done by a slot of this hub before. */
const LEND_AFTER_MS = 1000;
/** A hub comes when it has free slots. It is notified again after this long: it may have lost its memory. */
const NOTIFY_AGAIN_MS = 60_000;
/** The same if it came, and nothing fitted its slots. */
const NOTHING_FITTED_MS = 10_000;

type Deps = {
  /** The free slots that no ticket of this hub can use. */
  readonly capacity: () => Capacity[];
  /** Whether tickets wait that another hub may take. */
  readonly hasLendable: () => boolean;
  readonly borrow: (tickets: readonly LentTicket[]) => Promise<void>;
};

export class Peers {
  readonly #env: HubEnv;
  readonly #hub: string;
  readonly #deps: Deps;
  /** Since when tickets have waited. */
  #overflowsSince: number | null = null;
  /** When each of the others is notified next. */
  readonly #notifyAt = new Map<string, number>();
  /** The hubs whose work waits. */
  readonly #lenders = new Set<string>();
  #isBorrowing = false;

  /** `hub` is the name of this hub. */
  constructor(env: HubEnv, hub: string, deps: Deps) {
    this.#env = env;
    this.#hub = hub;
    this.#deps = deps;
  }

  /** Tickets or slots have changed; returns when to call this again, in ms since 1970, or null. */
  stepped(now: number): number | null {
    const others = this.#others();
    if (others.length === 0) return null;
    if (this.#lenders.size > 0) this.#borrow();
    if (!this.#deps.hasLendable()) {
      this.#overflowsSince = null;
      return null;
    }
    this.#overflowsSince ??= now;
    const nextAt = (): number => Math.min(...others.map((name) => this.#notifyAt.get(name) ?? 0));
    if (now < this.#overflowsSince + LEND_AFTER_MS) return Math.max(this.#overflowsSince + LEND_AFTER_MS, nextAt());
    for (const name of others) if ((this.#notifyAt.get(name) ?? 0) <= now) this.#notify(name, now);
    return nextAt();
  }

  /** The work of another hub waits. */
  overflows(hub: string): void {
    if (!this.#others().includes(hub)) return;
    this.#lenders.add(hub);
    this.#borrow();
  }

  /** Another hub has borrowed so many tickets; one that got none comes again only if it is notified. */
  lent(hub: string, count: number, now: number): void {
    if (count === 0) this.#notifyAt.set(hub, now + NOTHING_FITTED_MS);
  }

  #others(): string[] {
    const { HUB, HUBS } = this.#env;
    if (!HUB || !HUBS) return [];
    return hubNames({ HUBS }, poolOf(this.#hub)).filter((name) => name !== this.#hub);
  }

  #notify(name: string, now: number): void {
    const { HUB } = this.#env;
    if (!HUB) return;
    this.#notifyAt.set(name, now + NOTIFY_AGAIN_MS);
    withDeadline("overflows", hubOf({ HUB }, name).overflows(this.#hub)).catch((error: unknown) => {
      log.warn("hub not reachable", { hub: name, error: messageOf(error) });
    });
  }

  /** Borrows from one hub after the other, as long as slots are free. */
  #borrow(): void {
    const [lender] = this.#lenders;
    const { HUB } = this.#env;
    if (this.#isBorrowing || lender === undefined || !HUB) return;
    const capacity = this.#deps.capacity();
    if (capacity.length === 0) return;
    this.#isBorrowing = true;
    this.#borrowFrom({ HUB }, lender, capacity)
      .catch((error: unknown) => {
        this.#lenders.delete(lender);
        log.warn("hub not reachable", { hub: lender, error: messageOf(error) });
      })
      .finally(() => {
        this.#isBorrowing = false;
        this.#borrow();
      });
  }

  async #borrowFrom(env: Pick<Required<HubEnv>, "HUB">, lender: string, capacity: Capacity[]): Promise<void> {
    const lent = await withDeadline("lend", hubOf(env, lender).lend(this.#hub, capacity));
    const tickets = lent.map((ticket) => LentTicket.parse(ticket));
    if (tickets.length === 0) this.#lenders.delete(lender);
    // Not awaited: the claims take as long as their jobs.
    else void this.#deps.borrow(tickets);
  }
}
