// What the words of `npm run admin` ask of the API.

type Call = { method: string; path: string; body?: { name: string } };

/** What a command asks of the API; null when it is none. */
export function callOf([noun, verb, name, ...rest]: readonly string[]): Call | null {
  if (rest.length > 0) return null;
  const segment = encodeURIComponent(name ?? "");
  const routes: Record<string, Call | null> = {
    "accounts ": { method: "GET", path: "/accounts" },
    "accounts create": name ? { method: "POST", path: "/accounts", body: { name } } : null,
    "keys create": name ? { method: "POST", path: `/accounts/${segment}/keys` } : null,
    "keys revoke": name ? { method: "DELETE", path: `/keys/${segment}` } : null,
    "node-tokens ": { method: "GET", path: "/node-tokens" },
    "node-tokens create": name ? { method: "POST", path: "/node-tokens", body: { name } } : null,
    "node-tokens revoke": name ? { method: "DELETE", path: `/node-tokens/${segment}` } : null,
  };
  const known = routes[`${noun} ${verb ?? ""}`];
  if (known !== undefined) return known;
  if (noun !== "keys" || !verb || name) return null;
  return { method: "GET", path: `/accounts/${encodeURIComponent(verb)}/keys` };
}
