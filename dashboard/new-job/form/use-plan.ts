// The dry run of the request, 300 ms after the last change.
import { useEffect, useRef, useState } from "preact/hooks";
import { CopraError, type DryRunPlan, type JobRequest } from "../../../client/index.ts";
import { copra } from "../../core/service.ts";
import { plannable } from "../request/plannable.ts";
import type { Json } from "../secrets.ts";
import type { Invalid } from "./form-context.ts";

const DELAY_MS = 300;

export type Planned = {
  /** The last plan. It stays until the next plan arrives. */
  readonly plan: DryRunPlan | null;
  /** The validation error that prevents a plan of the present request. */
  readonly invalid: Invalid | null;
  /** Another failure, such as a lost connection. */
  readonly error: unknown;
  /** True if the plan belongs to the present request. */
  readonly isCurrent: boolean;
};

export const invalidFieldOf = (error: CopraError): Invalid => ({ field: fieldOf(error), message: error.message });

/** Some errors have a fixed message without the name of a field. */
function fieldOf({ field, code }: CopraError): string | undefined {
  if (field !== undefined) return field;
  if (code === "storage_credentials_not_valid") return "storage.credentials";
  if (code === "input_not_valid" || code === "input_url_not_valid") return "input";
  return undefined;
}

/** `source`: the probed source, as in the query of the dry run. Without it, the service assumes a source. */
export function usePlan(request: Json, source: object): Planned & { readonly retry: () => void } {
  const [planned, setPlanned] = useState<Planned>({ plan: null, invalid: null, error: null, isCurrent: false });
  const [round, setRound] = useState(0);
  const isFirst = useRef(true);
  const body = JSON.stringify([plannable(request), source]);
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    setPlanned((before) => ({ ...before, isCurrent: false }));
    const [planRequest, assumed]: [JobRequest, object] = JSON.parse(body);
    const timer = setTimeout(
      () => {
        isFirst.current = false;
        copra.jobs.plan(planRequest, assumed, { signal }).then(
          (plan) => signal.aborted || setPlanned({ plan, invalid: null, error: null, isCurrent: true }),
          (error: unknown) => {
            if (signal.aborted) return;
            const isRefused = error instanceof CopraError && (error.status === 400 || error.status === 413);
            setPlanned((before) => ({
              plan: before.plan,
              invalid: isRefused ? invalidFieldOf(error) : null,
              error: isRefused ? null : error,
              isCurrent: true,
            }));
          },
        );
      },
      isFirst.current ? 0 : DELAY_MS,
    );
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [body, round]);
  return { ...planned, retry: () => setRound((before) => before + 1) };
}
