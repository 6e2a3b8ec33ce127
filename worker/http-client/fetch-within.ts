import { type ConnectionFailure, FACTS } from "#shared/network/storage-connection.ts";
import { USER_AGENT } from "#shared/version.ts";

/**
 * No response may come from Cloudflare's cache. Other methods are never cached. With them, the option would add
 * `Cache-Control: no-cache`, which would become the Cache-Control of an S3 object.
 */
const NOT_CACHED: Readonly<Record<string, RequestInit>> = { GET: { cache: "no-store" }, HEAD: { cache: "no-store" } };

/**
 * `fetch` with a time limit for the whole exchange, until `read` has read the response's body. The timer never outlives
 * the exchange, because a pending timer keeps an object in memory. Throws FailedConnection if no response comes in
 * time, or if Cloudflare's edge responds in place of the server.
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

// On Cloudflare, a failed connection is a response: the edge responds in place of a server that it cannot reach. A
// server behind Cloudflare gives the same response when Cloudflare cannot reach it.

/** Cloudflare docs, "Cloudflare 5xx errors". A 530 has a code of BY_CODE, unless a tunnel is down. */
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

/** Cloudflare docs, "Cloudflare 1xxx errors". With all other codes, settings of the host's zone block the request. */
const BY_CODE: Readonly<Record<string, ConnectionFailure>> = {
  1001: "unknown host",
  1003: "ip address",
  1016: "unknown host",
};

/** Statuses that both the edge and servers send. */
const SHARED = new Set([403, 409]);

/** Returns why the edge has reached no server; null for the response of a server, whose body stays unread. */
async function edgeFailure(response: Response): Promise<ConnectionFailure | null> {
  const { status, headers } = response;
  const byStatus = BY_STATUS[status] ?? null;
  if (byStatus === null && !(SHARED.has(status) && headers.get("server") === "cloudflare")) return null;
  const code = /^error code: (10\d\d)\b/.exec(await startOf(response.clone()))?.[1];
  return code === undefined ? byStatus : (BY_CODE[code] ?? byStatus ?? "forbidden");
}

/** The first bytes of a body; a short body completely. */
async function startOf({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  // Not awaited: it ends only after the other copy of the body was read or cancelled.
  void reader?.cancel();
  return new TextDecoder().decode(value);
}
