import { USER_AGENT } from "#shared/version.ts";

/** `fetch` that names this program: firewalls refuse requests without a User-Agent, or with that of a library. */
export function namedFetch(url: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("user-agent", USER_AGENT);
  return fetch(url, { ...init, headers });
}
