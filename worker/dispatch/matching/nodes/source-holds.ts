// Ends the holds of encode slots whose sources take too long.
import { HOLD_MS } from "./held-slots.ts";
import type { Roster } from "./roster.ts";

/** Start of each hold of an encode slot by an inspection. */
export class SourceHolds {
  #since = new Map<string, number>();

  /** Records new inspections, and ends the holds that have lasted too long. */
  refresh(roster: Pick<Roster, "running" | "endHold">, now: number): void {
    const inspections = [...roster.running()].filter(({ slotClass }) => slotClass === "inspect");
    this.#since = new Map(inspections.map(({ lease }) => [lease, this.#since.get(lease) ?? now]));
    for (const [lease, since] of this.#since) if (since <= now - HOLD_MS) roster.endHold(lease);
  }

  /** Time at which the next hold ends; Infinity: never. */
  nextEndAt(now: number): number {
    let next = Infinity;
    for (const since of this.#since.values()) if (since + HOLD_MS > now) next = Math.min(next, since + HOLD_MS);
    return next;
  }
}
