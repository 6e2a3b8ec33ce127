// An HTTP agent that connects to allowed addresses only, whatever a name resolves to.
import { type LookupAddress, lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { Agent, buildConnector } from "undici";
import type { AppError } from "#shared/errors.ts";
import { type AllowPrivate, addressAllowed, hostAllowed, originAllowed } from "#shared/network/address-policy.ts";

type ResolveAll = (
  host: string,
  options: { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const CONNECT_TIMEOUT_MS = 15_000;
/** The many small files of an output share connections. */
const KEEP_ALIVE_MS = 10_000;

/** HTTP/1.1 has one body per connection, which keeps ranges and dropped connections simple. */
const PLAIN = { allowH2: false };

export type Guard = {
  readonly allow: AllowPrivate;
  /** The error for a host that is not allowed. */
  readonly refuse: (host: string) => AppError;
  readonly resolve?: ResolveAll;
  /**
   * Called for each reset connection, including idle connections. undici takes a reset for the end of a body that ends
   * with its connection.
   */
  readonly onReset?: () => void;
};

/**
 * An agent that connects to allowed addresses only. The name is resolved once, its addresses are checked, and the
 * socket connects to the checked addresses. There is no second look-up that could return others (DNS rebinding). Other
 * addresses fail with the guard's AppError. The agent does not follow redirects.
 */
export function guardedAgent(guard: Guard): Agent {
  const connect = buildConnector({ lookup: guardedLookup(guard), timeout: CONNECT_TIMEOUT_MS, ...PLAIN });
  const connectFreely = buildConnector({ timeout: CONNECT_TIMEOUT_MS, ...PLAIN });
  return new Agent({
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect(options, done) {
      // Sockets do not look up literal addresses, and some names are not allowed whatever they resolve to.
      const { hostname, protocol, port } = options;
      const isOwn = originAllowed(originOf(protocol, hostname, port), guard.allow);
      if (!isOwn && !hostAllowed(hostname, guard.allow))
        return done(guard.refuse(hostname.replace(/^\[|\]$/g, "")), null);
      (isOwn ? connectFreely : connect)(options, (...result) => {
        result[1]?.once("error", (error: NodeJS.ErrnoException) => {
          if (error.code === "ECONNRESET") guard.onReset?.();
        });
        done(...result);
      });
    },
  });
}

/** The origin in the notation of the URL standard. undici gives IPv6 addresses without brackets. */
function originOf(protocol: string, hostname: string, port: string): string {
  const host = hostname.includes(":") && !hostname.startsWith("[") ? `[${hostname}]` : hostname;
  return new URL(`${protocol}//${host}${port === "" ? "" : `:${port}`}`).origin;
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
