// Sends the request of the form, and opens the page of its job.
import { useEffect, useState } from "preact/hooks";
import { CopraError, type JobRequest } from "../../client/index.ts";
import { navigate } from "../core/location.ts";
import { copra } from "../core/service.ts";
import { focusField, type Invalid } from "./form/form-context.ts";
import { invalidFieldOf } from "./form/use-plan.ts";
import { isObject } from "./request/edit.ts";
import { missingIn } from "./request/plannable.ts";
import type { Json } from "./secrets.ts";

export type Sending = {
  readonly send: () => void;
  readonly isBusy: boolean;
  /** True if somebody has tried to send an incomplete request. */
  readonly tried: boolean;
  readonly missing: ReturnType<typeof missingIn>;
  readonly invalid: Invalid | null;
  readonly error: unknown;
  /** The reason to wait before sending; null if there is none. */
  readonly waits: string | null;
};

export function useSending(request: Json, uploadKind: string): Sending {
  const [state, setState] = useState<Pick<Sending, "isBusy" | "tried" | "invalid" | "error">>({
    isBusy: false,
    tried: false,
    invalid: null,
    error: null,
  });
  // An error belongs to the request that was sent.
  useEffect(() => setState((before) => ({ ...before, invalid: null, error: null })), [request]);
  const missing = missingIn(request);
  const usesUpload = isObject(request.input) && "upload" in request.input;
  const waits = usesUpload && !["none", "done"].includes(uploadKind) ? "The file is not uploaded yet" : null;
  const send = async (): Promise<void> => {
    setState((before) => ({ ...before, tried: true, error: null }));
    const [first] = missing;
    if (first !== undefined) return void setTimeout(() => focusField(first.field));
    setState((before) => ({ ...before, isBusy: true }));
    try {
      // The service checks the request more strictly than the type.
      const { id } = await copra.jobs.create(request as unknown as JobRequest);
      navigate(`/jobs/${id}`);
    } catch (error) {
      const isRefused = error instanceof CopraError && error.status === 400 && error.field !== undefined;
      setState((before) => ({
        ...before,
        isBusy: false,
        ...(isRefused ? { invalid: invalidFieldOf(error) } : { error }),
      }));
      if (isRefused && error.field !== undefined) focusField(error.field);
    }
  };
  return { ...state, missing, waits, send: () => void (state.isBusy || waits !== null || send()) };
}
