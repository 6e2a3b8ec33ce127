import { USER_AGENT } from "#shared/version.ts";

/**
 * `fetch` with this program's User-Agent. Firewalls reject requests without a User-Agent or with a library's
 * User-Agent.
 */
export function namedFetch(url: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("user-agent", USER_AGENT);
  return fetch(url, { ...init, headers });
}
