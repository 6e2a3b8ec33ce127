// Connections that can only reach allowed addresses, whatever a name resolves to at that moment.
import { type LookupAddress, lookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { Agent, buildConnector } from "undici";
import { type AllowPrivate, addressAllowed } from "#shared/address-policy.ts";
import { AppError } from "#shared/errors.ts";

type ResolveAll = (
  host: string,
  options: { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const CONNECT_TIMEOUT_MS = 15_000;

/**
 * An agent whose connections go to allowed addresses only. The name is resolved once, its addresses are checked, and
 * the socket connects to just those: there is no second look-up that could answer otherwise (DNS rebinding). A refusal
 * reaches the caller as AppError `input_address_not_allowed`. Redirects are the caller's affair.
 */
export function guardedAgent(allow: AllowPrivate, resolve: ResolveAll = lookup): Agent {
  const connect = buildConnector({
    lookup: guardedLookup(allow, resolve),
    timeout: CONNECT_TIMEOUT_MS,
    // Ranges and dropped connections are plain in HTTP/1.1: one connection, one body.
    allowH2: false,
  });
  return new Agent({
    connect(options, done) {
      // Sockets look no literal address up, so those are checked here.
      const host = options.hostname.replace(/^\[|\]$/g, "");
      if (isIP(host) !== 0 && !addressAllowed(host, allow)) return done(refusal(host), null);
      connect(options, done);
    },
  });
}

function guardedLookup(allow: AllowPrivate, resolve: ResolveAll): LookupFunction {
  return (host, options, done) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, "");
      const checked = addresses.filter(({ address }) => addressAllowed(address, allow));
      const first = checked[0];
      if (!first) return done(refusal(host), "");
      if (options.all) return done(null, checked);
      done(null, first.address, first.family);
    });
  };
}

const refusal = (host: string): AppError =>
  new AppError(
    "input_address_not_allowed",
    `The host \`${host}\` is not a public address; the input must be reachable over the Internet.`,
  );
