import { expect, it } from "vitest";
import { clientAddress, TrustedProxies } from "./client-address.ts";

const trusted = new TrustedProxies(["127.0.0.1", "10.0.0.0/8", "fd00::/8"]);

it.each([
  ["203.0.113.7", undefined, "203.0.113.7"],
  ["203.0.113.7", "198.51.100.1", "203.0.113.7"],
  ["127.0.0.1", "198.51.100.1", "198.51.100.1"],
  ["::ffff:127.0.0.1", "198.51.100.1", "198.51.100.1"],
  ["127.0.0.1", "192.0.2.1, 198.51.100.1, 10.1.2.3", "198.51.100.1"],
  ["fd00::1", "2001:db8::1", "2001:db8::1"],
  ["127.0.0.1", "198.51.100.1:4711", "198.51.100.1"],
  ["127.0.0.1", "[2001:db8::1]:4711", "2001:db8::1"],
  ["127.0.0.1", undefined, "127.0.0.1"],
  ["127.0.0.1", "unknown", "127.0.0.1"],
  ["127.0.0.1", "10.0.0.2", "10.0.0.2"],
])("finds for a connection from %s with X-Forwarded-For %s the client %s", (peer, header, client) => {
  expect(clientAddress(peer, header, trusted)).toBe(client);
});

it.each(["", "proxy", "10.0.0.0/33", "10.0.0.0/8/8", "10.0.0.0/-1", "::/129"])("rejects %j as a proxy", (text) => {
  expect(() => new TrustedProxies([text])).toThrow(`"${text}" is not an address or a network`);
});
