// The secret parts of a request. They stay in memory, and out of the URL, the texts to copy and the JSON.

export type Json = Record<string, unknown>;

/** Stands for a set secret in the JSON. An edit that keeps this text keeps the secret. */
export const KEPT = "••••••••";

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Names of credentials, also where the service does not expect them: people put credentials into wrong places. */
const SECRET_NAME =
  /secret|passw|passphrase|token|credential|authorization|signature|(?:access|account|api|app|private|shared|storage)key/i;
const isSecretName = (name: string): boolean => SECRET_NAME.test(name.replace(/[-_ ]/g, ""));
/** True for the key of an encrypted stream, and for headers and notification parameters, which often hold tokens. */
const isSecretMember = (name: string, parent: string): boolean =>
  (name === "key" && parent === "encryption") || parent === "params" || parent === "headers";

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
 * A URL of any scheme without user, password, query and fragment. S3 keys may contain slashes: if no port follows a
 * colon, the password reaches to the last `@`.
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

/** Removes sections that have lost all secrets: an empty section would be an error itself. */
function withoutEmpty(request: Json): Json {
  const entries = Object.entries(request).map(([name, section]) => {
    if (!isObject(section)) return [name, section];
    const keptEntries = Object.entries(section).filter(
      ([member, value]) =>
        !(["credentials", "headers", "params"].includes(member) && isObject(value) && Object.keys(value).length === 0),
    );
    return [name, Object.fromEntries(keptEntries)];
  });
  return Object.fromEntries(entries);
}

/** The request to show, with `KEPT` for each set secret. URLs are as people typed them. */
export const masked = (request: Json): Json =>
  mapSecrets(
    request,
    (secret) => (secret === "" ? "" : KEPT),
    (url) => url,
  ) as Json;

/** An edited request, with the secrets of `before` in place of `KEPT`. */
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
