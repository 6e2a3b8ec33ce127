// Which addresses a source, a watermark or a webhook may have: only public ones, unless the operator allows more.
import ipaddr from "ipaddr.js";
import { shown } from "../shown.ts";

/** What is allowed beside public addresses: nothing, this machine itself, or this machine and its private networks. */
export type AllowPrivate = "none" | "loopback" | "all";

export type UrlVerdict = { ok: true; url: string } | { ok: false; reason: string };

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Ranges (in ipaddr.js's words) that each setting opens. */
const OPENED: Record<AllowPrivate, readonly string[]> = {
  none: [],
  loopback: ["loopback"],
  all: ["loopback", "private", "uniqueLocal"],
};

/**
 * Services that hand secrets to whoever asks from inside a cloud, at addresses outside the link-local range: Azure's
 * wire server (a public address), and over IPv6, as each cloud documents it, the metadata servers of Google, Oracle,
 * Scaleway, Akamai (Linode) and Alibaba (private addresses).
 */
const METADATA_SERVERS = new Set([
  "168.63.129.16",
  "fd20:ce::254",
  "fd00:c1::a9fe:a9fe",
  "fd00:42::42",
  "fd00:a9fe:a9fe::1",
  "fd00:100::100:200",
]);
/** The services of AWS in a machine's own network over IPv6: metadata (::254), credentials of pods (::23), DNS, time. */
const AWS_SERVICES = ipaddr.IPv6.parseCIDR("fd00:ec2::/32");

/**
 * Names of private networks: RFC 6762, RFC 8375, ICANN's resolution 2024.07.29.06, and what some systems call
 * themselves in /etc/hosts.
 */
const PRIVATE_ZONES = [".local", ".home.arpa", ".internal", ".localdomain"];

/** Where the global unicast addresses of IPv6 lie. All other space is special even where no registry entry names it. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/** Translators of RFC 6052: the well-known prefix only. RFC 8215's local one leads into private networks. */
const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/**
 * Whether a connection to this address may be made. Takes plain notation only, as resolvers and URL parsers give it:
 * `0x7f.1` or `010.0.0.1` mean different things to different readers, so they are refused, as is all other text.
 */
export function addressAllowed(ip: string, allow: AllowPrivate): boolean {
  // ipaddr.js reads the long dead IPv4-compatible form `::8.8.8.8` as a mapped address, which it is not.
  const plain = ipaddr.IPv4.isValidFourPartDecimal(ip) || (ipaddr.IPv6.isValid(ip) && !/^::\d+\./.test(ip));
  return plain && allowed(ipaddr.parse(ip), allow);
}

function allowed(address: Address, allow: AllowPrivate): boolean {
  if (METADATA_SERVERS.has(address.toString())) return false;
  if (address instanceof ipaddr.IPv4) return inRange(address.range(), allow);
  if (address.match(AWS_SERVICES)) return false;
  // A zone names an interface of this machine: only link-scoped addresses have one.
  if (address.zoneId !== undefined) return false;
  // The kernel itself turns a mapped address into the IPv4 one, so it is no more and no less than that.
  if (address.isIPv4MappedAddress()) return allowed(address.toIPv4Address(), allow);
  const embedded = translatedTarget(address);
  // Behind a translator "private" means the translator's networks, which the operator did not speak of.
  if (embedded) return allowed(embedded, "none");
  const range = address.range();
  return range === "unicast" ? address.match(GLOBAL_UNICAST) : inRange(range, allow);
}

const inRange = (range: string, allow: AllowPrivate): boolean => range === "unicast" || OPENED[allow].includes(range);

/** The IPv4 address to which a NAT64 or 6to4 address leads; null for all others. */
function translatedTarget(address: ipaddr.IPv6): Address | null {
  const bytes = address.toByteArray();
  if (address.match(NAT64)) return ipaddr.fromByteArray(bytes.slice(12));
  if (address.range() === "6to4") return ipaddr.fromByteArray(bytes.slice(2, 6));
  return null;
}

/**
 * Checks a URL before anything is asked of the network: http or https, and a host that `hostAllowed` allows. The
 * answer's `url` is the normalised text, by which alone the URL may be used: other readers may find another host in the
 * original. A reason is one sentence that never repeats the URL, which may hold credentials.
 */
export function checkUrl(url: string, allow: AllowPrivate): UrlVerdict {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (!parsed) return { ok: false, reason: reasonFor(url) ?? "The URL is not valid" };
  const { protocol, hostname } = parsed;
  if (protocol !== "http:" && protocol !== "https:") {
    // What else ends in a colon may be a user's name: `name:password@host`.
    const scheme = url.trimStart().toLowerCase().startsWith(`${protocol}//`) ? `\`${protocol.slice(0, -1)}\`` : "given";
    return { ok: false, reason: reasonFor(url) ?? `The scheme ${scheme} is not supported; use http or https` };
  }
  if (hostAllowed(hostname, allow)) return { ok: true, url: parsed.href };
  return { ok: false, reason: `The host \`${shown(bare(hostname))}\` is not a public address` };
}

/** Schemes by which other tools name objects of a bucket. */
const BUCKET_SCHEMES: Readonly<Record<string, string>> = { s3: "s3", gs: "gcs", gcs: "gcs", r2: "r2", b2: "backblaze" };

/** What is said of texts that are often taken for URLs; null for others. It repeats host and port at the most. */
function reasonFor(text: string): string | null {
  if (/^(?:\/(?!\/)|\.{1,2}\/|~\/|[a-z]:[\\/]|file:)/i.test(text)) {
    return "The URL is a path on a computer, which the service cannot read; give an http or https URL";
  }
  const scheme = /^(s3|gs|gcs|r2|b2):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme !== undefined) {
    const service = BUCKET_SCHEMES[scheme];
    return `The scheme \`${scheme}\` is not supported; name the bucket by \`service\` (\`${service}\`), \`bucket\` and credentials`;
  }
  const [, host, port = ""] =
    /^((?:[a-z0-9-]+\.)+[a-z0-9-]+|localhost|[a-z0-9-]+(?=:\d))(:\d{1,5})?(?=[/?#]|$)/i.exec(text) ?? [];
  return host === undefined ? null : `The URL has no scheme; write \`https://${shown(host)}${port}\` or \`http://…\``;
}

/**
 * Whether a host, as the URL standard writes it, is no forbidden address, and no name that only means something inside a
 * network. Names that pass must still be checked by address on connecting.
 */
export function hostAllowed(hostname: string, allow: AllowPrivate): boolean {
  const host = bare(hostname);
  return ipaddr.isValid(host) ? addressAllowed(host, allow) : nameAllowed(host, allow);
}

/** An address without its brackets, a name without the dot of the root. */
const bare = (hostname: string): string => hostname.replace(/^\[|\]$|\.$/g, "");

function nameAllowed(name: string, allow: AllowPrivate): boolean {
  // `127.0.0.1..` and `localhost..` are no names, and no two resolvers need agree on what they are.
  if (name.split(".").includes("")) return false;
  if (allow === "all") return true;
  if (name === "localhost" || name.endsWith(".localhost")) return allow === "loopback";
  return name.includes(".") && !PRIVATE_ZONES.some((zone) => name.endsWith(zone));
}
