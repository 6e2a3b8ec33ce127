// Sends a POST about a lease to the control plane.
import * as z from "zod";
import { AppError } from "#shared/errors.ts";
import type { LeaseId } from "#shared/ids.ts";
import { messageOf } from "#shared/log.ts";
import { NODE_USER_AGENT } from "#shared/version.ts";

export type LeaseVerb = "uploads" | "scratch" | "chunks" | "outputs" | "complete" | "fail";

export type PostResult =
  | { kind: "accepted"; body: unknown }
  /** The lease belongs to another attempt, or the job no longer needs it. */
  | { kind: "superseded" }
  /** The control plane understood the request and will never accept it. */
  | { kind: "rejected"; message: string }
  /** HTTP 500: probably permanent, but an upgrade of the control plane may fix it. */
  | { kind: "internal-error"; message: string }
  /** No response, or a response that is not from the control plane itself. */
  | { kind: "unreachable"; message: string };

export interface ControlPlane {
  post(lease: LeaseId, verb: LeaseVerb, body: unknown, signal?: AbortSignal): Promise<PostResult>;
}

const RESPONSE_TIMEOUT_MS = 60_000;

/**
 * Distinguishes the control plane from gateways and captive portals in front of it. Their error bodies have another
 * form.
 */
const ErrorBody = z.object({ error_code: z.string() });
const FINAL_STATUSES: Readonly<Record<number, "superseded" | "rejected">> = {
  404: "superseded",
  409: "superseded",
  400: "rejected",
  413: "rejected",
};

/** `url` is the control plane's URL without `/v2`. */
export function controlPlaneAt(url: string, token: string): ControlPlane {
  return {
    async post(lease, verb, body, signal) {
      const timeout = AbortSignal.timeout(RESPONSE_TIMEOUT_MS);
      try {
        const response = await fetch(`${url}/v2/nodes/leases/${lease}/${verb}`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${token}`,
            "content-type": "application/json",
            "user-agent": NODE_USER_AGENT,
          },
          body: JSON.stringify(body),
          signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        });
        const text = await response.text();
        if (response.ok) return { kind: "accepted", body: JSON.parse(text) };
        const final = FINAL_STATUSES[response.status];
        if (final && isErrorBody(text)) return final === "rejected" ? { kind: final, message: text } : { kind: final };
        const { status, headers } = response;
        const head = { status, server: headers.get("server"), contentType: headers.get("content-type") };
        return {
          kind: status === 500 ? "internal-error" : "unreachable",
          message: edgeBlock(head) ?? `HTTP ${status}`,
        };
      } catch (error) {
        if (signal?.aborted) throw new AppError("cancelled", "The work was stopped", { cause: error });
        return { kind: "unreachable", message: messageOf(error) };
      }
    },
  };
}

function isErrorBody(text: string): boolean {
  try {
    return ErrorBody.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
}

type Head = { readonly status: number; readonly server: unknown; readonly contentType: string | null | undefined };

/** Advice for the operator when Cloudflare responds instead of the control plane; null for other responses. */
export const edgeBlock = ({ status, server, contentType }: Head): string | null =>
  status === 403 && server === "cloudflare" && !contentType?.startsWith("application/json")
    ? 'Cloudflare refused the request before it reached the control plane (HTTP 403): skip Browser Integrity Check for this host by a WAF rule, and switch off Bot Fight Mode (docs/deploying.md, "Your own host")'
    : null;
