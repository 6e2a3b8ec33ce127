// One POST to the control plane about a lease.
import { AppError } from "#shared/errors.ts";
import type { LeaseId } from "#shared/ids.ts";
import { messageOf } from "#shared/log.ts";

export type LeaseVerb = "uploads" | "scratch" | "complete" | "fail";

export type PostAnswer =
  | { kind: "taken"; body: unknown }
  /** The lease is no longer ours. */
  | { kind: "superseded" }
  /** The control plane understood and will never take this. */
  | { kind: "refused"; message: string }
  /** It had a problem of its own with this: likely for good, but an upgrade may mend it. */
  | { kind: "broken"; message: string }
  /** It could not be asked, or cannot answer now. */
  | { kind: "unreachable"; message: string };

export interface ControlPlane {
  post(lease: LeaseId, verb: LeaseVerb, body: unknown, signal?: AbortSignal): Promise<PostAnswer>;
}

const ANSWER_LIMIT_MS = 60_000;

/** Reports go to `url`, which is the address of the control plane without `/v2`. */
export function controlPlaneAt(url: string, token: string): ControlPlane {
  return {
    async post(lease, verb, body, signal) {
      const limit = AbortSignal.timeout(ANSWER_LIMIT_MS);
      try {
        const response = await fetch(`${url}/v2/nodes/leases/${lease}/${verb}`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          body: JSON.stringify(body),
          signal: signal ? AbortSignal.any([signal, limit]) : limit,
        });
        const text = await response.text();
        if (response.ok) return { kind: "taken", body: JSON.parse(text) };
        if (response.status === 409 || response.status === 404) return { kind: "superseded" };
        if (response.status === 400 || response.status === 413) return { kind: "refused", message: text };
        return { kind: response.status === 500 ? "broken" : "unreachable", message: `HTTP ${response.status}` };
      } catch (error) {
        if (signal?.aborted) throw new AppError("cancelled", "The work was stopped", { cause: error });
        return { kind: "unreachable", message: messageOf(error) };
      }
    },
  };
}
