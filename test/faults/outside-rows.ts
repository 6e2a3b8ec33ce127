// Rows of faults outside the service. Each row has its own job. All jobs run in parallel, and each proxy finds the row
// of a request by the request's address.
import type { Fault, FaultRule, ProxiedRequest } from "./fault-proxy.ts";
import type { FaultWorld } from "./fault-world.ts";

export type Row = {
  /** Part of all addresses of the row: letters and dashes. */
  readonly name: string;
  readonly source?: FaultRule;
  readonly s3?: FaultRule;
  readonly webhook?: FaultRule;
};

const fits = ({ path }: ProxiedRequest, name: string): boolean => path.includes(`row-${name}-end`);

/** The folder of a row's results, which is also the mark in its addresses. */
export const markOf = (name: string): string => `row-${name}-end`;

/** Makes each proxy apply each row's faults to the row's requests. */
export function setRows(world: FaultWorld, rows: readonly Row[]): void {
  const ruleOf =
    (which: "source" | "s3" | "webhook"): FaultRule =>
    (request) =>
      rows.find(({ name }) => fits(request, name))?.[which]?.(request) ?? null;
  for (const which of ["source", "s3", "webhook"] as const) world.proxies[which].use(ruleOf(which));
}

/** Applies these faults, in turn, to the first matching requests; null forwards a request. */
export function inTurn(is: (request: ProxiedRequest) => boolean, ...faults: (Fault | null)[]): FaultRule {
  const left = [...faults];
  return (request) => (is(request) ? (left.shift() ?? null) : null);
}

export const all =
  (is: (request: ProxiedRequest) => boolean, fault: Fault): FaultRule =>
  (request) =>
    is(request) ? fault : null;

/** Applies the fault for this time from the first matching request. */
export function during(ms: number, is: (request: ProxiedRequest) => boolean, fault: Fault): FaultRule {
  let until: number | null = null;
  return (request) => {
    if (!is(request)) return null;
    until ??= performance.now() + ms;
    return performance.now() < until ? fault : null;
  };
}

/** An error response as S3 sends it. */
export const s3Error = (status: number, code: string, message = "We are sorry."): Fault => ({
  kind: "answer",
  status,
  headers: { "content-type": "application/xml" },
  body: `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`,
});
