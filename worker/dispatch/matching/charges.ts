// Charges accounts for the slots that they get: with an estimate at once, and with the difference when the task has
// ended.
import { waitsForOthers } from "#shared/ids.ts";
import type { Match } from "./choose.ts";
import type { Running } from "./nodes/running-leases.ts";
import type { Accounts } from "./waiting/accounts.ts";

export class Charges {
  readonly #accounts: Accounts;
  /** Start of each lease, and the charge for it. */
  readonly #leases = new Map<string, { readonly at: number; readonly chargedS: number }>();
  /** The charge for each slot of a match, until the match's job has claimed the slots; seconds. */
  readonly #pending = new Map<Match<unknown>, number>();

  constructor(accounts: Accounts) {
    this.#accounts = accounts;
  }

  /** Charges an account for the slots of a match. */
  matched(match: Match<unknown>, now: number): void {
    const { ticket, slots } = match;
    const account = this.#accounts.get(ticket.accountId);
    this.#pending.set(match, this.#accounts.charge(account, ticket.slotClass, slots, now));
  }

  /**
   * Handles leases that the job of a match has claimed. Their times count only if the node is still connected. Nobody
   * is charged for a task that waits without a slot.
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

  /** Handles a lease that has left its node. Returns its time in seconds, or null if its start is unknown. */
  ended({ lease, accountId, slotClass }: Running, now: number): number | null {
    const charge = this.#leases.get(lease);
    this.#leases.delete(lease);
    if (!charge) return null;
    const seconds = (now - charge.at) / 1000;
    this.#accounts.settle(this.#accounts.get(accountId), slotClass, seconds, charge.chargedS);
    return seconds;
  }
}
