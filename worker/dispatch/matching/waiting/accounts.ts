// The accounts whose tasks wait or run. The account with the lowest load is next: its encoding time of the last hours
// and its running tasks, divided by its weight.
import type { SlotClass } from "#shared/protocol/tasks.ts";

/** Assumed time of a task, in seconds, until tasks have ended. */
const FIRST_MEAN_S: Readonly<Record<SlotClass, number>> = { inspect: 10, encode: 60 };
/** Weight of the latest task in the average. */
const LATEST_SHARE = 0.2;
/** Used time counts half after this time: long enough for long tasks, and no account is owed for a day without jobs. */
const HALF_LIFE_MS = 60 * 60_000;

export type Account = {
  readonly id: string;
  weight: number;
  /** Maximum number of running tasks; null: no limit. */
  maxRunning: number | null;
  /** Encoding time of ended tasks in seconds, as of `usedAt`. */
  usedS: number;
  usedAt: number;
  /** Grows with each match: among equal accounts, the account that has waited longest comes first. */
  turn: number;
  /** Time of its last match; ms since 1970. */
  servedAt: number;
};

export class Accounts {
  readonly #accounts = new Map<string, Account>();
  /** Average time of all tasks, in seconds. */
  readonly meanS: Record<SlotClass, number> = { ...FIRST_MEAN_S };
  #turns = 0;

  get(id: string): Account {
    const known = this.#accounts.get(id);
    if (known) return known;
    const account = { id, weight: 1, maxRunning: null, usedS: 0, usedAt: 0, turn: ++this.#turns, servedAt: 0 };
    this.#accounts.set(id, account);
    return account;
  }

  /** The load of an account that decides its turn. A running task counts as long as the average encode. */
  loadOf(account: Account, running: number, now: number): number {
    return (usedBy(account, now) + running * this.meanS.encode) / account.weight;
  }

  matched(account: Account, now: number): void {
    account.turn = ++this.#turns;
    account.servedAt = now;
  }

  /** Counts the time of a task that has ended. */
  ended(id: string, slotClass: SlotClass, seconds: number, now: number): void {
    this.meanS[slotClass] += LATEST_SHARE * (seconds - this.meanS[slotClass]);
    const account = this.get(id);
    account.usedS = usedBy(account, now) + (slotClass === "encode" ? seconds : 0);
    account.usedAt = now;
  }

  /** Forgets accounts that have used hardly any time. */
  forgetIdle(isBusy: (account: Account) => boolean, now: number): void {
    for (const account of this.#accounts.values()) {
      if (usedBy(account, now) < 1 && !isBusy(account)) this.#accounts.delete(account.id);
    }
  }
}

const usedBy = ({ usedS, usedAt }: Account, now: number): number => usedS * 2 ** ((usedAt - now) / HALF_LIFE_MS);
