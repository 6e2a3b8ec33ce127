// W3C Trace Context, level 2 (https://www.w3.org/TR/trace-context-2/): the headers `traceparent` and `tracestate`.
import * as z from "zod";
import type { LogFields } from "../log.ts";

/** Version, trace id, id of the caller's span, and flags (§3.2.2). Later versions may append members (§3.2.4). */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ZEROS = /^0+$/;
/** Flags of level 2: sampled, and a random trace id (§3.2.2.5). All others are unknown and not passed on. */
const SAMPLED = 0x01;
const KNOWN_FLAGS = SAMPLED | 0x02;

/** A list member of `tracestate` (§3.3.1.3). */
const MEMBER = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;
const MAX_MEMBERS = 32;
/** Length of `tracestate` that must be passed on at least (§3.3.1.5). */
const MAX_STATE_CHARS = 512;

/** Trace of a job, in the form of its headers. `traceparent` has version 00. */
export const TraceContext = z.object({
  traceparent: z.string().regex(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/),
  tracestate: z.string().max(MAX_STATE_CHARS).exactOptional(),
});
export type TraceContext = z.infer<typeof TraceContext>;

/** Returns the trace of a request; null without a valid `traceparent`. Omits an invalid `tracestate` (§3.3.1). */
export function readTraceContext(headers: { get(name: string): string | null | undefined }): TraceContext | null {
  const [, version, traceId = "", spanId = "", flags = "", more] =
    TRACEPARENT.exec(headers.get("traceparent") ?? "") ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return null;
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return null;
  const known = (Number.parseInt(flags, 16) & KNOWN_FLAGS).toString(16).padStart(2, "0");
  const tracestate = readTraceState(headers.get("tracestate") ?? "");
  return { traceparent: `00-${traceId}-${spanId}-${known}`, ...(tracestate === "" ? {} : { tracestate }) };
}

/** Returns the members of a valid `tracestate`; "" for an invalid text. */
function readTraceState(text: string): string {
  if (text.length > MAX_STATE_CHARS) return "";
  const members = text
    .split(",")
    .map((member) => member.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, ""))
    .filter((member) => member !== "");
  const keys = new Set(members.map((member) => member.slice(0, member.indexOf("="))));
  const isValid = members.length <= MAX_MEMBERS && keys.size === members.length;
  return isValid && members.every((member) => MEMBER.test(member)) ? members.join(",") : "";
}

/** Parses a `traceparent` of version 00. */
export function partsOf({ traceparent }: TraceContext): { traceId: string; spanId: string; isSampled: boolean } {
  const flags = Number.parseInt(traceparent.slice(53), 16);
  return { traceId: traceparent.slice(3, 35), spanId: traceparent.slice(36, 52), isSampled: (flags & SAMPLED) !== 0 };
}

/** Returns the headers of a request that belongs to a trace. `spanId` is the request's own: 16 hexadecimal digits. */
export function traceHeaders({ traceparent, ...state }: TraceContext, spanId: string): Record<string, string> {
  return { traceparent: `${traceparent.slice(0, 36)}${spanId}${traceparent.slice(52)}`, ...state };
}

/** Returns the attributes of log lines of a trace. */
export const traceFields = (trace: TraceContext | undefined): LogFields =>
  trace ? { trace_id: partsOf(trace).traceId } : {};
