// Maps the arguments of `npm run admin` to API requests.

type Call = {
  method: string;
  /** Below /v2. */
  path: string;
  body?: Readonly<Record<string, string | number | null | readonly string[]>>;
  /** The request is repeated with the response's `next_cursor` until that is null. */
  paginated?: true;
};

/** What `--pool` and `--label` bind a new node token to. */
type Binding = { readonly pool?: string | undefined; readonly label?: readonly string[] | undefined };

/** Commands with an argument after the name. */
const WITH_VALUE: ReadonlySet<string> = new Set(["accounts limit", "accounts weight", "accounts max-running"]);

/** The request of a command; null when there is no such command. */
export function callOf([noun, verb, name, value, ...rest]: readonly string[], binding: Binding = {}): Call | null {
  const command = `${noun} ${verb ?? ""}`;
  if (rest.length > 0 || (value !== undefined && !WITH_VALUE.has(command))) return null;
  const isBound = binding.pool !== undefined || binding.label !== undefined;
  if (isBound && command !== "node-tokens create") return null;
  const routes: Record<string, Call | null> = {
    "reseal ": { method: "POST", path: "/admin/reseal", body: {}, paginated: true },
    "autoscale ": { method: "GET", path: "/autoscale" },
    ...accountCalls(name, value),
    ...tokenCalls(name, binding),
    ...nodeCalls(name),
  };
  const known = routes[command];
  if (known !== undefined) return known;
  if (noun !== "keys" || !verb || name) return null;
  return { method: "GET", path: `/admin/accounts/${encodeURIComponent(verb)}/keys` };
}

function accountCalls(name: string | undefined, value: string | undefined): Record<string, Call | null> {
  const account = `/admin/accounts/${encodeURIComponent(name ?? "")}`;
  const limits = (field: string, number: number | null | undefined): Call | null =>
    name && number !== undefined ? { method: "POST", path: `${account}/limits`, body: { [field]: number } } : null;
  return {
    "accounts ": { method: "GET", path: "/admin/accounts" },
    "accounts create": name ? { method: "POST", path: "/admin/accounts", body: { name } } : null,
    "accounts limit": limits("max_unfinished_jobs", limitOf(value)),
    "accounts max-running": limits("max_running", limitOf(value)),
    "accounts weight": limits("weight", limitOf(value) ?? undefined),
    "accounts rotate-secret": name ? { method: "POST", path: `${account}/rotate-secret` } : null,
    "keys create": name ? { method: "POST", path: `${account}/keys` } : null,
  };
}

function tokenCalls(name: string | undefined, { pool, label }: Binding): Record<string, Call | null> {
  const binding = { ...(pool === undefined ? {} : { pool }), ...(label === undefined ? {} : { labels: label }) };
  const id = encodeURIComponent(name ?? "");
  return {
    "keys revoke": name ? { method: "DELETE", path: `/admin/keys/${id}` } : null,
    "node-tokens ": { method: "GET", path: "/admin/node-tokens" },
    "node-tokens create": name ? { method: "POST", path: "/admin/node-tokens", body: { name, ...binding } } : null,
    "node-tokens revoke": name ? { method: "DELETE", path: `/admin/node-tokens/${id}` } : null,
  };
}

function nodeCalls(name: string | undefined): Record<string, Call | null> {
  const node = name ? `/admin/nodes/${encodeURIComponent(name)}` : null;
  const change = (verb: string): Call | null => (node ? { method: "POST", path: `${node}/${verb}` } : null);
  return {
    "nodes ": { method: "GET", path: "/admin/nodes" },
    "nodes show": node ? { method: "GET", path: node } : null,
    "nodes drain": change("drain"),
    "nodes cordon": change("cordon"),
    "nodes uncordon": change("uncordon"),
  };
}

/** Null resets a limit; undefined is no limit. */
function limitOf(value: string | undefined): number | null | undefined {
  if (value === "default") return null;
  return /^\d{1,6}$/.test(value ?? "") ? Number(value) : undefined;
}
