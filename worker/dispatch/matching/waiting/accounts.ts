// The accounts whose tasks wait or run: whose turn it is, by the encode-seconds that each has used (start-time fair
// queueing, Goyal et al. 1996), and which of them may run no more.
import { SLOT_CLASSES, type SlotClass } from "#shared/protocol/tasks.ts";

/** The assumed time of a task, in seconds, until one of the account has ended. */
const FIRST_COST_S: Readonly<Record<SlotClass, number>> = { inspect: 10, encode: 60 };
/** An account that had the nodes to itself waits at most this much longer than others; seconds. */
const MAX_LEAD_S = 3600;
/** How much the latest task counts in the average. */
const LATEST_SHARE = 0.2;

export type Account = {
  readonly id: string;
  weight: number;
  /** How many of its tasks may run at a time; null: any number. */
  maxRunning: number | null;
  /** The seconds that it has used, divided by its weight: who has the lowest comes first. */
  readonly used: Record<SlotClass, number>;
  /** The average time of its tasks, in seconds. */
  readonly costS: Record<SlotClass, number>;
  /** Grows with each turn: among equals, who has waited longest comes first. */
  turn: number;
  /** When it last got a slot; ms since 1970. */
  servedAt: number;
  /** The number of its tickets. */
  readonly waiting: Record<SlotClass, number>;
  /** Its weight in the sum of those that wait. */
  readonly countedWeight: Record<SlotClass, number>;
};

const none = (): Record<SlotClass, number> => ({ inspect: 0, encode: 0 });

export class Accounts {
  readonly #accounts = new Map<string, Account>();
  /** What the account that was last served had used: who begins to wait is not owed for the time before. */
  readonly #served: Record<SlotClass, number> = none();
  /** The average time of all tasks, in seconds. */
  readonly meanS: Record<SlotClass, number> = { ...FIRST_COST_S };
  /** The weights of the accounts of which tickets wait. */
  readonly #waitingWeight: Record<SlotClass, number> = none();
  #turns = 0;

  get(id: string): Account {
    const known = this.#accounts.get(id);
    if (known) return known;
    const fresh = { used: { ...this.#served }, costS: { ...this.meanS }, turn: ++this.#turns, servedAt: 0 };
    const account: Account = { id, weight: 1, maxRunning: null, ...fresh, waiting: none(), countedWeight: none() };
    this.#accounts.set(id, account);
    return account;
  }

  /** One more or one less of an account's tickets waits. */
  count(account: Account, slotClass: SlotClass, tickets: 1 | -1): void {
    const { waiting, used } = account;
    if (SLOT_CLASSES.every((of) => waiting[of] === 0)) {
      for (const each of SLOT_CLASSES) used[each] = Math.max(used[each], this.#served[each]);
    }
    if (waiting[slotClass] === 0) {
      account.countedWeight[slotClass] = account.weight;
      this.#waitingWeight[slotClass] += account.weight;
    }
    waiting[slotClass] += tickets;
    if (waiting[slotClass] === 0) this.#waitingWeight[slotClass] -= account.countedWeight[slotClass];
  }

  /** An account gets slots: they are charged at once, as far as their time is known. Returns the charge of each. */
  charge(account: Account, slotClass: SlotClass, slots: number, now: number): number {
    const each = account.costS[slotClass];
    // It also grows with all that is served, so that new accounts never come before those that wait for ever.
    const share = (slots * each) / Math.max(1, account.weight, this.#waitingWeight[slotClass]);
    this.#served[slotClass] = Math.max(this.#served[slotClass], account.used[slotClass]) + share;
    account.used[slotClass] += (slots * each) / account.weight;
    account.turn = ++this.#turns;
    account.servedAt = now;
    return each;
  }

  /** Returns the charge of slots that were not used. */
  refund(account: Account, slotClass: SlotClass, seconds: number): void {
    account.used[slotClass] -= seconds / account.weight;
  }

  /** A task of an account has ended after some seconds, of which it was charged for some. */
  settle(account: Account, slotClass: SlotClass, seconds: number, chargedS: number): void {
    const used = account.used[slotClass] + (seconds - chargedS) / account.weight;
    account.used[slotClass] = Math.min(used, this.#served[slotClass] + MAX_LEAD_S);
    account.costS[slotClass] += LATEST_SHARE * (seconds - account.costS[slotClass]);
    this.meanS[slotClass] += LATEST_SHARE * (seconds - this.meanS[slotClass]);
  }

  /** Forgets accounts that are idle and have used no more than others: they would begin with the same. */
  forgetIdle(isRunning: (accountId: string) => boolean): void {
    for (const account of this.#accounts.values()) {
      const { used, waiting } = account;
      const isIdle = SLOT_CLASSES.every((of) => waiting[of] === 0 && used[of] <= this.#served[of]);
      if (isIdle && !isRunning(account.id)) this.#accounts.delete(account.id);
    }
  }
}
