// Connections that can only reach allowed addresses, whatever a name resolves to at that moment.
import { type LookupAddress, lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { Agent, buildConnector } from "undici";
import type { AppError } from "#shared/errors.ts";
import { type AllowPrivate, addressAllowed, hostAllowed } from "#shared/network/address-policy.ts";

type ResolveAll = (
  host: string,
  options: { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const CONNECT_TIMEOUT_MS = 15_000;
/** Storages take the many small files of one output over the same connections. */
const KEEP_ALIVE_MS = 10_000;

export type Guard = {
  readonly allow: AllowPrivate;
  /** What a caller gets who wants to reach a host that is not allowed. */
  readonly refuse: (host: string) => AppError;
  readonly resolve?: ResolveAll;
  /** Is told of connections that were reset, idle ones too: undici takes that for the end of a body that only ends by closing. */
  readonly onReset?: () => void;
};

/**
 * An agent whose connections go to allowed addresses only. The name is resolved once, its addresses are checked, and
 * the socket connects to just those: there is no second look-up that could answer otherwise (DNS rebinding). A refusal
 * reaches the caller as the guard's own AppError. Redirects are the caller's affair.
 */
export function guardedAgent(guard: Guard): Agent {
  const connect = buildConnector({
    lookup: guardedLookup(guard),
    timeout: CONNECT_TIMEOUT_MS,
    // Ranges and dropped connections are plain in HTTP/1.1: one connection, one body.
    allowH2: false,
  });
  return new Agent({
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect(options, done) {
      // Sockets look no literal address up, and some names need no look-up to be refused.
      const { hostname } = options;
      if (!hostAllowed(hostname, guard.allow)) return done(guard.refuse(hostname.replace(/^\[|\]$/g, "")), null);
      connect(options, (...made) => {
        made[1]?.once("error", (error: NodeJS.ErrnoException) => {
          if (error.code === "ECONNRESET") guard.onReset?.();
        });
        done(...made);
      });
    },
  });
}

function guardedLookup({ allow, refuse, resolve = lookup }: Guard): LookupFunction {
  return (host, options, done) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, "");
      const checked = addresses.filter(({ address }) => addressAllowed(address, allow));
      const first = checked[0];
      if (!first) return done(refuse(host), "");
      if (options.all) return done(null, checked);
      done(null, first.address, first.family);
    });
  };
}
