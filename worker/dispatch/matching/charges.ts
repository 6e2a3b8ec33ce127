// What accounts are charged for the slots that they get: an estimate at once, the difference when the task has ended.
import { waitsForOthers } from "#shared/ids.ts";
import type { Match } from "./choose.ts";
import type { Running } from "./nodes/running-leases.ts";
import type { Accounts } from "./waiting/accounts.ts";

export class Charges {
  readonly #accounts: Accounts;
  /** When each lease began, and what its account was charged for it. */
  readonly #leases = new Map<string, { readonly at: number; readonly chargedS: number }>();
  /** What the accounts of matches were charged for each slot, until their jobs have claimed them; seconds. */
  readonly #pending = new Map<Match<unknown>, number>();

  constructor(accounts: Accounts) {
    this.#accounts = accounts;
  }

  /** An account gets the slots of a match. */
  matched(match: Match<unknown>, now: number): void {
    const { ticket, slots } = match;
    const account = this.#accounts.get(ticket.accountId);
    this.#pending.set(match, this.#accounts.charge(account, ticket.slotClass, slots, now));
  }

  /**
   * The job of a match has claimed these leases; their times count only if the node is still there. Nobody is charged
   * for a task that waits without a slot.
   */
  claimed(match: Match<unknown>, leases: readonly string[], isConnected: boolean, now: number): void {
    const { ticket, slots } = match;
    const chargedS = this.#pending.get(match) ?? 0;
    this.#pending.delete(match);
    const charged = leases.filter((lease) => !waitsForOthers(lease));
    if (isConnected) for (const lease of charged) this.#leases.set(lease, { at: now, chargedS });
    const unused = slots - charged.length;
    if (unused === 0) return;
    this.#accounts.refund(this.#accounts.get(ticket.accountId), ticket.slotClass, unused * chargedS);
  }

  /** A lease has left its node; returns its time in seconds, or null if its start is not known. */
  ended({ lease, accountId, slotClass }: Running, now: number): number | null {
    const charge = this.#leases.get(lease);
    this.#leases.delete(lease);
    if (!charge) return null;
    const seconds = (now - charge.at) / 1000;
    this.#accounts.settle(this.#accounts.get(accountId), slotClass, seconds, charge.chargedS);
    return seconds;
  }
}
