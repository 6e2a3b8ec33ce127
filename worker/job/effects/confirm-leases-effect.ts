// Asks hubs whether nodes have the leases that they have not reported on.
import type { LeaseId } from "#shared/ids.ts";
import type { LeaseHolding } from "../../rpc/hub.ts";
import { applyHoldings, leasesToConfirm } from "../decide/lost-leases.ts";
import type { EffectDeps } from "./effect.ts";
import { holdersOf } from "./hub-calls.ts";

/** Throws when a hub could not be asked, after it has applied what the others know. */
export async function confirmLeases(deps: EffectDeps): Promise<void> {
  const byHub = leasesToConfirm(deps.state(), deps.now());
  const answers = await Promise.allSettled(
    [...byHub].map(async ([hub, leases]): Promise<[LeaseId, LeaseHolding][]> => {
      const holdings = await holdersOf(deps.env, hub, leases);
      return leases.map(({ lease }, at) => [lease, holdings[at] ?? "not-connected"]);
    }),
  );
  const known = new Map(answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : [])));
  // That nodes have their leases is not worth a row: the object asks once more if it is evicted.
  const areHeld = [...known.values()].every((holding) => holding === "held");
  const change = areHeld ? deps.note : deps.apply;
  if (known.size > 0) change((state) => applyHoldings(state, known, deps.now()));
  const failed = answers.find((answer) => answer.status === "rejected");
  if (failed) throw failed.reason;
}
