import { type ConnectionFailure, FACTS } from "#shared/network/storage-connection.ts";
import { USER_AGENT } from "#shared/version.ts";

/**
 * No response may come from Cloudflare's cache. Other methods are never cached, and with them the `Cache-Control:
 * no-cache` that the option adds would become the Cache-Control of an object of S3.
 */
const NOT_CACHED: Readonly<Record<string, RequestInit>> = { GET: { cache: "no-store" }, HEAD: { cache: "no-store" } };

/**
 * `fetch` with a time limit for the whole exchange, until `read` has read the response's body. The timer never outlives
 * the exchange, because a pending timer keeps an object in memory. Throws FailedConnection without a response in time,
 * and when Cloudflare's edge responds in place of the server.
 */
export async function fetchWithin<Value>(
  limitMs: number,
  request: Request,
  read: (response: Response) => Promise<Value>,
): Promise<Value> {
  const abort = new AbortController();
  const late = `no response within ${limitMs / 1000} s`;
  const timer = setTimeout(() => abort.abort(new FailedConnection("timeout", late)), limitMs);
  request.headers.set("user-agent", USER_AGENT);
  try {
    const response = await fetch(request, { signal: abort.signal, redirect: "manual", ...NOT_CACHED[request.method] });
    const failure = await edgeFailure(response);
    if (failure === null) return await read(response);
    await response.body?.cancel();
    throw new FailedConnection(failure, `the host ${FACTS[failure]}`);
  } finally {
    clearTimeout(timer);
  }
}

export class FailedConnection extends Error {
  readonly reason: ConnectionFailure;

  constructor(reason: ConnectionFailure, message: string) {
    super(message);
    this.reason = reason;
  }
}

// On Cloudflare a failed connection is a response: its edge responds in place of a server that it cannot reach. A
// server that is behind Cloudflare itself responds in the same way when Cloudflare cannot reach it.

/** Cloudflare docs, "Cloudflare 5xx errors". 530 comes with a code of BY_CODE; others are of tunnels that are down. */
const BY_STATUS: Readonly<Record<number, ConnectionFailure>> = {
  520: "broken",
  521: "refused",
  522: "timeout",
  523: "timeout",
  524: "timeout",
  525: "certificate",
  526: "certificate",
  527: "broken",
  530: "timeout",
};

/** Cloudflare docs, "Cloudflare 1xxx errors". All others block the request by settings of the host's zone. */
const BY_CODE: Readonly<Record<string, ConnectionFailure>> = {
  1001: "unknown host",
  1003: "ip address",
  1016: "unknown host",
};

/** Statuses of the edge that servers have, too. */
const SHARED = new Set([403, 409]);

/** Why the edge has reached no server; null for the response of a server, whose body is not touched. */
async function edgeFailure(response: Response): Promise<ConnectionFailure | null> {
  const { status, headers } = response;
  const byStatus = BY_STATUS[status] ?? null;
  if (byStatus === null && !(SHARED.has(status) && headers.get("server") === "cloudflare")) return null;
  const code = /^error code: (10\d\d)\b/.exec(await startOf(response.clone()))?.[1];
  return code === undefined ? byStatus : (BY_CODE[code] ?? byStatus ?? "forbidden");
}

/** The first bytes of a body, which have a short one whole. */
async function startOf({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return new TextDecoder().decode(value);
}
