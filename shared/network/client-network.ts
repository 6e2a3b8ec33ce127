// The network by which limits count the clients without a credential.
import ipaddr from "ipaddr.js";

/** An IPv4 address, or the /64 network of an IPv6 address, in which a host can have any number; null for other text. */
export function clientNetwork(text: string): string | null {
  if (!ipaddr.isValid(text)) return null;
  const address = ipaddr.process(text);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  return `${ipaddr.fromByteArray([...address.toByteArray().slice(0, 8), 0, 0, 0, 0, 0, 0, 0, 0])}/64`;
}
