// One POST to the control plane about a lease.
import * as z from "zod";
import { AppError } from "#shared/errors.ts";
import type { LeaseId } from "#shared/ids.ts";
import { messageOf } from "#shared/log.ts";

export type LeaseVerb = "uploads" | "scratch" | "outputs" | "complete" | "fail";

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

/** By this the control plane is told from what stands before it: gateways and captive portals refuse in words of their own. */
const Refusal = z.object({ error_code: z.string() });
const REFUSALS: Readonly<Record<number, "superseded" | "refused">> = {
  404: "superseded",
  409: "superseded",
  400: "refused",
  413: "refused",
};

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
        const refusal = REFUSALS[response.status];
        if (refusal && isOwn(text)) return refusal === "refused" ? { kind: refusal, message: text } : { kind: refusal };
        return { kind: response.status === 500 ? "broken" : "unreachable", message: `HTTP ${response.status}` };
      } catch (error) {
        if (signal?.aborted) throw new AppError("cancelled", "The work was stopped", { cause: error });
        return { kind: "unreachable", message: messageOf(error) };
      }
    },
  };
}

function isOwn(text: string): boolean {
  try {
    return Refusal.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
}
