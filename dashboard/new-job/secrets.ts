// Which parts of a request are secret: they stay in memory, and out of the address, the texts to copy and the JSON.

export type Json = Record<string, unknown>;

/** What the JSON shows instead of a secret that is set; an edit that leaves it keeps the secret. */
export const KEPT = "••••••••";

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Names of credentials, also where the service does not expect them: people put them into wrong places. */
const SECRET_NAME =
  /secret|passw|passphrase|token|credential|authorization|signature|(?:access|account|api|app|private|shared|storage)key/i;
const isSecretName = (name: string): boolean => SECRET_NAME.test(name.replace(/[-_ ]/g, ""));
/** The key of an encrypted stream; notification parameters often hold tokens. */
const isSecretMember = (name: string, parent: string): boolean =>
  (name === "key" && parent === "encryption") || parent === "params";

/** A copy in which `hide` replaces each secret text, and `url` each URL. */
function mapSecrets(value: unknown, hide: (text: unknown) => unknown, url: (text: string) => string): unknown {
  const walk = (one: unknown, name: string, parent: string, inside: boolean): unknown => {
    if (Array.isArray(one)) return one.map((entry) => walk(entry, name, parent, inside));
    if (isObject(one)) {
      const isSecret = inside || isSecretName(name);
      const entries = Object.entries(one).map(([key, member]) => [key, walk(member, key, name, isSecret)]);
      return Object.fromEntries(entries.filter(([, member]) => member !== undefined));
    }
    if (inside || isSecretName(name) || isSecretMember(name, parent)) return hide(one);
    return typeof one === "string" && /^\s*[a-z][a-z0-9+.-]*:\/\//i.test(one) ? url(one) : one;
  };
  return walk(value, "", "", false);
}

/**
 * A URL of any scheme without user, password, query and fragment. Keys of S3 may contain slashes: after a colon that
 * starts no port, all until the last `@` is a password.
 */
export const publicUrl = (url: string): string =>
  url
    .trim()
    .replace(/[?#].*/s, "")
    .replace(/^([^/]*:\/\/)(?:[^/]*@|[^/:@]*:(?!\d*(?:\/|$)).*@)/s, "$1");

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
