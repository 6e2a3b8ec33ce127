// The accounts whose tasks wait or run. The account with the fewest used encode-seconds is next (start-time fair
// queueing, Goyal et al. 1996). Also knows the accounts that may run no more tasks.
import { SLOT_CLASSES, type SlotClass } from "#shared/protocol/tasks.ts";

/** Assumed time of a task, in seconds, until a task of the account has ended. */
const FIRST_COST_S: Readonly<Record<SlotClass, number>> = { inspect: 10, encode: 60 };
/** Maximum extra wait of an account that had the nodes to itself; seconds. */
const MAX_LEAD_S = 3600;
/** Weight of the latest task in the average. */
const LATEST_SHARE = 0.2;

export type Account = {
  readonly id: string;
  weight: number;
  /** Maximum number of running tasks; null: no limit. */
  maxRunning: number | null;
  /** Used seconds, divided by the weight. The account with the lowest value comes first. */
  readonly used: Record<SlotClass, number>;
  /** Average time of its tasks, in seconds. */
  readonly costS: Record<SlotClass, number>;
  /** Grows with each turn: among equal accounts, the account that has waited longest comes first. */
  turn: number;
  /** Time of its last slot; ms since 1970. */
  servedAt: number;
  /** Number of its tickets. */
  readonly waiting: Record<SlotClass, number>;
  /** Its weight in the sum over the waiting accounts. */
  readonly countedWeight: Record<SlotClass, number>;
};

const none = (): Record<SlotClass, number> => ({ inspect: 0, encode: 0 });

export class Accounts {
  readonly #accounts = new Map<string, Account>();
  /** Used seconds of the last served account. An account that starts to wait is not owed for earlier time. */
  readonly #served: Record<SlotClass, number> = none();
  /** Average time of all tasks, in seconds. */
  readonly meanS: Record<SlotClass, number> = { ...FIRST_COST_S };
  /** Sum of the weights of the accounts with waiting tickets. */
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

  /** Counts a ticket of an account that waits (1), or no longer waits (-1). */
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

  /**
   * Charges an account at once for slots that it gets, at the average time of its tasks. Returns the charge for each
   * slot.
   */
  charge(account: Account, slotClass: SlotClass, slots: number, now: number): number {
    const each = account.costS[slotClass];
    // Grows with all served work, so that new accounts never come before accounts that wait for ever.
    const share = (slots * each) / Math.max(1, account.weight, this.#waitingWeight[slotClass]);
    this.#served[slotClass] = Math.max(this.#served[slotClass], account.used[slotClass]) + share;
    account.used[slotClass] += (slots * each) / account.weight;
    account.turn = ++this.#turns;
    account.servedAt = now;
    return each;
  }

  /** Returns the charge of unused slots to the account. */
  refund(account: Account, slotClass: SlotClass, seconds: number): void {
    account.used[slotClass] -= seconds / account.weight;
  }

  /** Corrects the charge for a task that has ended. `seconds`: its time; `chargedS`: the charge so far. */
  settle(account: Account, slotClass: SlotClass, seconds: number, chargedS: number): void {
    const used = account.used[slotClass] + (seconds - chargedS) / account.weight;
    account.used[slotClass] = Math.min(used, this.#served[slotClass] + MAX_LEAD_S);
    account.costS[slotClass] += LATEST_SHARE * (seconds - account.costS[slotClass]);
    this.meanS[slotClass] += LATEST_SHARE * (seconds - this.meanS[slotClass]);
  }

  /** Forgets idle accounts that have used no more than others: new accounts start with the same values. */
  forgetIdle(isRunning: (accountId: string) => boolean): void {
    for (const account of this.#accounts.values()) {
      const { used, waiting } = account;
      const isIdle = SLOT_CLASSES.every((of) => waiting[of] === 0 && used[of] <= this.#served[of]);
      if (isIdle && !isRunning(account.id)) this.#accounts.delete(account.id);
    }
  }
}
