// Network of a client. Limits count clients without a credential by network.
import ipaddr from "ipaddr.js";

/**
 * Returns an IPv4 address, or the /64 network of an IPv6 address: a host can have any number of addresses in it. Null
 * for other text.
 */
export function clientNetwork(text: string): string | null {
  if (!ipaddr.isValid(text)) return null;
  const address = ipaddr.process(text);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  return `${ipaddr.fromByteArray([...address.toByteArray().slice(0, 8), 0, 0, 0, 0, 0, 0, 0, 0])}/64`;
}
