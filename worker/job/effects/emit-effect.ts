// Sends a job's events to the object of its account, while somebody listens there.
import { accountOf } from "../../rpc/account.ts";
import { withDeadline } from "../../rpc/deadline.ts";
import { areEventsDue, dueEvents } from "../decide/account-events.ts";
import { NOT_LISTENED } from "../state/listened.ts";
import type { EffectDeps } from "./effect.ts";

/**
 * Sends all events that are due. What was sent is only noted: events that are sent again, because the object died, are
 * recognized there by their keys.
 */
export async function emitEvents(deps: EffectDeps): Promise<void> {
  for (let state = deps.state(); areEventsDue(state); state = deps.state()) {
    if (state.listened.until <= deps.now()) return deps.note((before) => ({ ...before, listened: NOT_LISTENED }));
    const { events, listened } = dueEvents(state);
    const account = accountOf(deps.env, state.spec.accountId);
    const until = await withDeadline("record", account.record(events));
    deps.note((before) => ({ ...before, listened: { ...listened, until } }));
  }
}
