// Which parts of a request are secret: they stay in memory, and out of the address, the texts to copy and the JSON.

export type Json = Record<string, unknown>;

/** What the JSON shows instead of a secret that is set; an edit that leaves it keeps the secret. */
export const KEPT = "••••••••";

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Members whose values are secret wherever they are: credentials of storages, sources and topics. */
const SECRET_SECTIONS: ReadonlySet<string> = new Set(["credentials"]);
/** The key of an encrypted stream; notification parameters often hold tokens. */
const isSecretMember = (name: string, parent: string): boolean =>
  (name === "key" && parent === "encryption") || parent === "params";

/** A copy in which `hide` replaces each secret text, and `url` each URL. */
function mapSecrets(value: unknown, hide: (text: unknown) => unknown, url: (text: string) => string): unknown {
  const walk = (one: unknown, name: string, parent: string, inside: boolean): unknown => {
    if (Array.isArray(one)) return one.map((entry) => walk(entry, name, parent, inside));
    if (isObject(one)) {
      const isSecret = inside || SECRET_SECTIONS.has(name);
      const entries = Object.entries(one).map(([key, member]) => [key, walk(member, key, name, isSecret)]);
      return Object.fromEntries(entries.filter(([, member]) => member !== undefined));
    }
    if (inside || isSecretMember(name, parent)) return hide(one);
    return typeof one === "string" && /^https?:\/\//i.test(one) ? url(one) : one;
  };
  return walk(value, "", "", false);
}

/**
 * Without user, password, query and fragment: what the service itself shows of a URL (shared/job/metadata.ts,
 * `publicUrl`, which the dashboard cannot import without zod).
 */
export const publicUrl = (url: string): string => url.replace(/^(https?:\/\/)[^/?#]*@/i, "$1").replace(/[?#].*$/, "");

/** The request without its secrets: credentials, keys of streams, parameters of notifications, parts of URLs. */
export const withoutSecrets = (request: Json): Json => {
  const rest = mapSecrets(request, () => undefined, publicUrl) as Json;
  return withoutEmpty(rest);
};

/** Sections of secrets that are empty now would be errors of their own. */
function withoutEmpty(request: Json): Json {
  const entries = Object.entries(request).map(([name, section]) => {
    if (!isObject(section)) return [name, section];
    const kept = Object.entries(section).filter(
      ([member, value]) =>
        !((member === "credentials" || member === "params") && isObject(value) && Object.keys(value).length === 0),
    );
    return [name, Object.fromEntries(kept)];
  });
  return Object.fromEntries(entries);
}

/** The request to show: `KEPT` in place of each secret that is set. URLs are as they were typed. */
export const masked = (request: Json): Json =>
  mapSecrets(
    request,
    (secret) => (secret === "" ? "" : KEPT),
    (url) => url,
  ) as Json;

/** An edited request, with the secrets of `before` where it still has `KEPT`. */
export function unmasked(edited: Json, before: Json): Json {
  const walk = (one: unknown, old: unknown): unknown => {
    if (one === KEPT) return old ?? "";
    if (Array.isArray(one)) return one.map((entry, at) => walk(entry, Array.isArray(old) ? old[at] : undefined));
    if (!isObject(one)) return one;
    const from = isObject(old) ? old : {};
    return Object.fromEntries(Object.entries(one).map(([name, member]) => [name, walk(member, from[name])]));
  };
  return walk(edited, before) as Json;
}
