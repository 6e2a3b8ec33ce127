// A name server (RFC 1035) with answers of a test, and a `dns.lookup` of this process that uses it.
import { createSocket } from "node:dgram";
import dns, { type LookupAddress } from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import ipaddr from "ipaddr.js";

/** The addresses of a name; `lookups` counts earlier look-ups of the name. */
export type Answers = (name: string, lookups: number) => readonly string[];

const [A, AAAA] = [1, 28];
const HEADER_BYTES = 12;

/**
 * Makes `dns.lookup` query a server with these answers. `lookups` holds the names of all look-ups; `close` restores
 * `dns.lookup`.
 */
export async function startNameServer(answers: Answers) {
  const lookups: string[] = [];
  const socket = createSocket("udp4").on("message", (query, { port, address }) => {
    const { name, type, end } = questionOf(query);
    const addresses = answers(name, lookups.filter((other) => other === name).length - 1);
    socket.send(replyTo(query.subarray(0, end), addressesOf(addresses, type), type), port, address);
  });
  await new Promise<void>((bound) => socket.bind(0, "127.0.0.1", bound));
  const resolver = new dns.promises.Resolver({ timeout: 5_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  const lookUp = async (name: string): Promise<LookupAddress[]> => {
    lookups.push(name.toLowerCase());
    const [four, six] = await Promise.all([
      resolver.resolve4(name).catch(() => []),
      resolver.resolve6(name).catch(() => []),
    ]);
    return [...four.map((address) => ({ address, family: 4 })), ...six.map((address) => ({ address, family: 6 }))];
  };
  const system = dns.lookup;
  replaceLookup((name, _, done) => void lookUp(name).then((addresses) => done(null, addresses)));
  const close = (): void => {
    replaceLookup(system);
    socket.close();
  };
  return { lookups, close };
}

type Lookup = (
  name: string,
  options: { all: true },
  done: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void;

function replaceLookup(lookup: Lookup): void {
  dns.lookup = lookup as typeof dns.lookup;
  syncBuiltinESMExports();
}

/** The first question of a query, and where it ends. */
function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

const addressesOf = (addresses: readonly string[], type: number): number[][] =>
  addresses
    .filter((address) => type === (address.includes(":") ? AAAA : A))
    .map((address) => ipaddr.parse(address).toByteArray());

/** The reply, with a TTL of 0, so that no answer is cached. */
function replyTo(question: Buffer, addresses: readonly number[][], type: number): Buffer {
  const reply = Buffer.from(question);
  reply.writeUInt16BE(0x8180, 2);
  reply.writeUInt16BE(addresses.length, 6);
  reply.writeUInt32BE(0, 8);
  const records = addresses.map((bytes) =>
    Buffer.from([0xc0, HEADER_BYTES, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes]),
  );
  return Buffer.concat([reply, ...records]);
}
