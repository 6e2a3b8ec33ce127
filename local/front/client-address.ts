// The address of a request's client, also behind proxies that the operator trusts.
import { BlockList, isIP } from "node:net";

/** Addresses and networks in CIDR notation, such as `127.0.0.1` and `10.0.0.0/8`. */
export class TrustedProxies {
  readonly #list = new BlockList();

  /** Throws a message for people that names an invalid address or network. */
  constructor(proxies: readonly string[]) {
    for (const text of proxies) {
      const [address = "", bits, ...rest] = text.split("/");
      const family = isIP(address);
      const most = family === 6 ? 128 : 32;
      if (
        family === 0 ||
        rest.length > 0 ||
        (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= most))
      ) {
        throw new Error(`"${text}" is not an address or a network such as 10.0.0.0/8`);
      }
      this.#list.addSubnet(address, bits === undefined ? most : Number(bits), family === 6 ? "ipv6" : "ipv4");
    }
  }

  has(address: string): boolean {
    return this.#list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
  }
}

/**
 * The address of the client that sent the request to the first trusted proxy. This is the connection's address, or the
 * last address in X-Forwarded-For that is not a trusted proxy. The client may have written any address before it.
 */
export function clientAddress(peer: string, forwardedFor: string | undefined, trusted: TrustedProxies): string {
  let address = plain(peer);
  const hops = (forwardedFor ?? "").split(",").map((text) => plain(text.trim()));
  while (trusted.has(address)) {
    const hop = hops.pop();
    if (hop === undefined || isIP(hop) === 0) break;
    address = hop;
  }
  return address;
}

/** A socket for both families has IPv4 addresses in mapped form, and some proxies add ports. */
const plain = (address: string): string =>
  address
    .replace(/^::ffff:(?=\d+\.)/i, "")
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1")
    .replace(/^\[(.*)\](:\d+)?$/, "$1");
