// Address policy: the URLs of sources, watermarks and webhooks must be public, unless the operator allows more.
import ipaddr from "ipaddr.js";
import { excerpt } from "../excerpt.ts";
import { err, ok, type Result } from "../result.ts";

/** Networks allowed besides public ones: none, this machine, or this machine and its private networks. */
export type AllowNetworks = "none" | "loopback" | "all";

/**
 * Allowed networks, plus origins of the operator's own services, which are allowed in any network. `signed`: origins
 * that only URLs signed by the service may name; redirects may not. `byName`: the control plane connects to no public
 * IP addresses, only to names.
 */
export type AllowPrivate =
  | AllowNetworks
  | {
      readonly networks: AllowNetworks;
      readonly origins: readonly string[];
      readonly signed?: readonly string[];
      readonly byName?: true;
    };

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The ranges that each setting allows, by ipaddr.js's names. */
const OPENED: Record<AllowNetworks, readonly string[]> = {
  none: [],
  loopback: ["loopback"],
  all: ["loopback", "private", "uniqueLocal"],
};

/**
 * Services that give secrets to any client inside a cloud, at addresses outside the link-local range. Azure's wire
 * server has a public address. Over IPv6, the metadata servers of Google, Oracle, Scaleway, Akamai (Linode) and Alibaba
 * have private addresses, as each cloud documents.
 */
const METADATA_SERVERS = new Set([
  "168.63.129.16",
  "fd20:ce::254",
  "fd00:c1::a9fe:a9fe",
  "fd00:42::42",
  "fd00:a9fe:a9fe::1",
  "fd00:100::100:200",
]);
/**
 * The services of AWS in a machine's own network over IPv6: metadata (::254), credentials of pods (::23), DNS, time.
 */
const AWS_SERVICES = ipaddr.IPv6.parseCIDR("fd00:ec2::/32");

/**
 * Names of private networks: RFC 6762, RFC 8375, ICANN's resolution 2024.07.29.06, and names that some systems give
 * themselves in /etc/hosts.
 */
const PRIVATE_ZONES = [".local", ".home.arpa", ".internal", ".localdomain"];

/** Global unicast addresses of IPv6. All other space is special, even without a registry entry. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/** Translators of RFC 6052: only the well-known prefix. RFC 8215's local prefix leads into private networks. */
const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/**
 * True if a connection to this address is allowed. Accepts only the plain notation of resolvers and URL parsers:
 * `0x7f.1` or `010.0.0.1` mean different things to different parsers, so they are rejected like all other text.
 */
export function addressAllowed(ip: string, allow: AllowPrivate): boolean {
  // ipaddr.js parses the obsolete IPv4-compatible form `::8.8.8.8` as a mapped address, which is wrong.
  const plain = ipaddr.IPv4.isValidFourPartDecimal(ip) || (ipaddr.IPv6.isValid(ip) && !/^::\d+\./.test(ip));
  return plain && allowed(ipaddr.parse(ip), networksOf(allow));
}

const networksOf = (allow: AllowPrivate): AllowNetworks => (typeof allow === "string" ? allow : allow.networks);

/** Returns the policy with these additional origins, such as `http://127.0.0.1:9000`. */
export const withOrigins = (networks: AllowNetworks, origins: readonly string[]): AllowPrivate =>
  origins.length === 0 ? networks : { networks, origins };

/** Returns the policy of a control plane on Cloudflare, whose Workers connect to no IP addresses. */
export const byName = (allow: AllowPrivate): AllowPrivate => ({
  ...(typeof allow === "string" ? { networks: allow, origins: [] } : allow),
  byName: true,
});

/** Returns the policy for URLs that the service has signed. Later changes of `signed` apply. */
export const withSigned = (allow: AllowPrivate, signed: readonly string[]): AllowPrivate =>
  typeof allow === "string" ? { networks: allow, origins: [], signed } : { ...allow, signed };

/** Returns the policy for redirects, whose targets are not signed. */
export const withoutSigned = (allow: AllowPrivate): AllowPrivate =>
  typeof allow === "string" ? allow : withOrigins(allow.networks, allow.origins);

/** True if the origin, in the notation of the URL standard, belongs to the operator's own services. */
export const originAllowed = (origin: string, allow: AllowPrivate): boolean =>
  typeof allow !== "string" && (allow.origins.includes(origin) || (allow.signed ?? []).includes(origin));

function allowed(address: Address, allow: AllowNetworks): boolean {
  if (METADATA_SERVERS.has(address.toString())) return false;
  if (address instanceof ipaddr.IPv4) return inRange(address.range(), allow);
  if (address.match(AWS_SERVICES)) return false;
  // A zone names an interface of this machine. Only link-scoped addresses have a zone.
  if (address.zoneId !== undefined) return false;
  // The kernel converts a mapped address to its IPv4 address, so both get the same result.
  if (address.isIPv4MappedAddress()) return allowed(address.toIPv4Address(), allow);
  const embedded = translatedTarget(address);
  // Private addresses behind a translator belong to the translator's networks, which the operator has not allowed.
  if (embedded) return allowed(embedded, "none");
  const range = address.range();
  return range === "unicast" ? address.match(GLOBAL_UNICAST) : inRange(range, allow);
}

const inRange = (range: string, allow: AllowNetworks): boolean => range === "unicast" || OPENED[allow].includes(range);

/** Returns the IPv4 target of a NAT64 or 6to4 address; null for all others. */
function translatedTarget(address: ipaddr.IPv6): Address | null {
  const bytes = address.toByteArray();
  if (address.match(NAT64)) return ipaddr.fromByteArray(bytes.slice(12));
  if (address.range() === "6to4") return ipaddr.fromByteArray(bytes.slice(2, 6));
  return null;
}

/**
 * Checks a URL before any network access: http or https, and a host that `hostAllowed` allows. Returns the normalized
 * URL. Use no other form of it, because another parser may find a different host in the original. The error is a
 * predicate, such as "has no scheme; write …"; the caller adds a subject. It never repeats the URL, which may contain
 * credentials.
 */
export function checkUrl(url: string, allow: AllowPrivate): Result<string, string> {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (!parsed) return err(commonMistake(url) ?? "is not a valid URL");
  const { protocol, hostname } = parsed;
  if (protocol !== "http:" && protocol !== "https:") {
    // Other text before a colon may be a user name: `name:password@host`.
    const scheme = url.trimStart().toLowerCase().startsWith(`${protocol}//`)
      ? `the scheme \`${protocol.slice(0, -1)}\`, which`
      : "a scheme that";
    return err(commonMistake(url) ?? `has ${scheme} is not supported; use http or https`);
  }
  if (originAllowed(parsed.origin, allow) || hostAllowed(hostname, allow)) return ok(parsed.href);
  return err(
    `has the host \`${excerpt(bare(hostname))}\`, which is not a public address; the operator can allow it (--allow-private)`,
  );
}

/** Like `checkUrl`, for a URL to which the control plane itself sends requests. */
export function checkReachableUrl(url: string, allow: AllowPrivate): Result<string, string> {
  const checked = checkUrl(url, allow);
  if (!checked.ok || typeof allow === "string" || !allow.byName) return checked;
  const { hostname, origin } = new URL(checked.value);
  // Private addresses pass only if the operator has allowed them: in a local system.
  if (originAllowed(origin, allow) || !addressAllowed(bare(hostname), "none")) return checked;
  return err(
    `has the host \`${bare(hostname)}\`, an IP address; this service runs on Cloudflare, which connects only to names, so use a host name`,
  );
}

/** Schemes that other tools use for objects in a bucket, with the `service` of each. */
const BUCKET_SCHEMES: Readonly<Record<string, string>> = { s3: "s3", gs: "gcs", gcs: "gcs", r2: "r2", b2: "backblaze" };

/**
 * Returns the error for text that is often mistaken for a URL; null for other text. It repeats at most the host and
 * port.
 */
function commonMistake(text: string): string | null {
  if (/^(?:\/(?!\/)|\.{1,2}\/|~\/|[a-z]:[\\/]|file:)/i.test(text)) {
    return "is a path on your computer, which the service cannot read; use an http or https URL";
  }
  const scheme = /^(s3|gs|gcs|r2|b2):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme !== undefined) {
    const service = BUCKET_SCHEMES[scheme];
    return `has the scheme \`${scheme}\`, which is not supported; use \`"service":"${service}"\` with \`bucket\` and \`credentials\``;
  }
  const [, host, port = ""] =
    /^((?:[a-z0-9-]+\.)+[a-z0-9-]+|localhost|[a-z0-9-]+(?=:\d))(:\d{1,5})?(?=[/?#]|$)/i.exec(text) ?? [];
  return host === undefined ? null : `has no scheme; write \`https://${excerpt(host)}${port}\` or \`http://…\``;
}

/**
 * True if a host, in the notation of the URL standard, is neither a forbidden address nor a name that is valid only in
 * a private network. Names that pass need another check of their addresses during the connection.
 */
export function hostAllowed(hostname: string, allow: AllowPrivate): boolean {
  const host = bare(hostname);
  return ipaddr.isValid(host) ? addressAllowed(host, allow) : nameAllowed(host, networksOf(allow));
}

/** Removes the brackets of an address, or the final dot (root) of a name. */
const bare = (hostname: string): string => hostname.replace(/^\[|\]$|\.$/g, "");

function nameAllowed(name: string, allow: AllowNetworks): boolean {
  // `127.0.0.1..` and `localhost..` are not valid names: resolvers parse them in different ways.
  if (name.split(".").includes("")) return false;
  if (allow === "all") return true;
  if (name === "localhost" || name.endsWith(".localhost")) return allow === "loopback";
  return name.includes(".") && !PRIVATE_ZONES.some((zone) => name.endsWith(zone));
}
