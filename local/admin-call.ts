// Maps the arguments of `npm run admin` to API requests.

type Call = {
  method: string;
  path: string;
  body?: Readonly<Record<string, string | number | null>>;
  /** The request is repeated with the response's `next_cursor` until that is null. */
  paginated?: true;
};

/** The request of a command; null when there is no such command. */
export function callOf([noun, verb, name, value, ...rest]: readonly string[]): Call | null {
  if (rest.length > 0 || (value !== undefined && `${noun} ${verb}` !== "accounts limit")) return null;
  const segment = encodeURIComponent(name ?? "");
  const routes: Record<string, Call | null> = {
    "accounts ": { method: "GET", path: "/accounts" },
    "accounts create": name ? { method: "POST", path: "/accounts", body: { name } } : null,
    "accounts limit": name ? limitCall(segment, value) : null,
    "accounts rotate-secret": name ? { method: "POST", path: `/accounts/${segment}/rotate-secret` } : null,
    "reseal ": { method: "POST", path: "/reseal", body: {}, paginated: true },
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

function limitCall(account: string, value: string | undefined): Call | null {
  if (value !== "default" && !/^\d{1,6}$/.test(value ?? "")) return null;
  const limit = value === "default" ? null : Number(value);
  return { method: "POST", path: `/accounts/${account}/limits`, body: { max_unfinished_jobs: limit } };
}
