// Always in sight: what the job makes, or why it cannot be sent, and the button that sends it.
import { Problem } from "../parts/problem.tsx";
import { PlanSummary } from "./form/plan-view.tsx";
import type { Planned } from "./form/use-plan.ts";
import type { Sending } from "./use-sending.ts";

export function SendBar({ planned, sending }: { readonly planned: Planned; readonly sending: Sending }) {
  const { send, isBusy, waits, error } = sending;
  return (
    <section class="card send-bar" aria-label="Send">
      {error !== null && <Problem error={error} />}
      <div class="row">
        <div aria-live="polite" aria-busy={!planned.isCurrent}>
          <PlanSummary planned={planned} />
        </div>
        <button
          type="button"
          class="primary"
          disabled={isBusy || waits !== null}
          title={waits ?? undefined}
          onClick={send}
        >
          {isBusy ? "Sending …" : "Send the job"}
        </button>
      </div>
    </section>
  );
}
