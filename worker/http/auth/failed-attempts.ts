// Limits for wrong credentials. For a network that sends too many of them, only credentials in the database are looked
// up. An unknown credential is not looked up again for a short time.
import type { HonoRequest } from "hono";
import { AppError } from "#shared/errors.ts";
import { clientNetwork } from "#shared/network/client-network.ts";
import type { Env } from "../../bindings.ts";
import { ExpiringMap } from "../../expiring-map.ts";
import { log } from "../../log.ts";
import { KnownCredentials } from "./known-credentials.ts";

type AnyContext = { readonly req: Pick<HonoRequest, "header" | "path">; readonly env: Env };

/** The periods of REFUSED_RATE and ADMIN_REFUSED_RATE in wrangler.toml. */
const BLOCK_SECONDS = 10;
const ADMIN_BLOCK_SECONDS = 60;
const UNKNOWN_MS = 10_000;
/** About 100 bytes per entry: 0.5 MB per set. */
const MAX_ENTRIES = 5000;

const blocked = new ExpiringMap<true>(BLOCK_SECONDS * 1000, MAX_ENTRIES);
const adminBlocked = new ExpiringMap<true>(ADMIN_BLOCK_SECONDS * 1000, MAX_ENTRIES);
const unknown = new ExpiringMap<true>(UNKNOWN_MS, MAX_ENTRIES);
const known = new KnownCredentials();

/**
 * Returns the owner of a credential, or null if the credential is unknown. Calls `lookUp` (the database) at most once
 * in ten seconds for an unknown credential. For a blocked network, calls it only with credentials that exist. Throws
 * AppError(rate_limited).
 */
export async function findCredential<Value>(
  context: AnyContext,
  digest: string,
  lookUp: () => Promise<Value | null>,
): Promise<Value | null> {
  const now = Date.now();
  const network = networkOf(context);
  if (network !== null && blocked.get(network, now) && !(await known.has(context.env.DB, digest, now))) {
    throw tooMany("API keys or node tokens", BLOCK_SECONDS);
  }
  const result = unknown.get(digest, now) ? null : await lookUp();
  if (result !== null) return result;
  unknown.set(digest, true, now);
  if (network !== null && !(await context.env.REFUSED_RATE.limit({ key: network })).success)
    blocked.set(network, true, now);
  return null;
}

/**
 * True if `compare` accepts the admin token, from any network: a comparison costs a hash, and nobody guesses the token.
 * The limit of wrong tokens bounds the log. Throws AppError(rate_limited) for networks that sent too many wrong tokens.
 */
export async function checkAdminToken(context: AnyContext, compare: () => Promise<boolean>): Promise<boolean> {
  if (await compare()) return true;
  const now = Date.now();
  const network = networkOf(context);
  if (network !== null && adminBlocked.get(network, now)) throw tooMany("admin tokens", ADMIN_BLOCK_SECONDS);
  log.warn("admin token rejected", { address: context.req.header("cf-connecting-ip") ?? null, path: context.req.path });
  if (network === null) return false;
  if (!(await context.env.ADMIN_REFUSED_RATE.limit({ key: network })).success) adminBlocked.set(network, true, now);
  return false;
}

const tooMany = (what: string, retryAfterSeconds: number): AppError =>
  new AppError("rate_limited", `Too many wrong ${what} from this IP address; try again in ${retryAfterSeconds} s`, {
    retryAfterSeconds,
  });

/**
 * The client's network, from the address that Cloudflare or the local front server set. Clients cannot influence it.
 */
const networkOf = ({ req }: AnyContext): string | null => clientNetwork(req.header("cf-connecting-ip") ?? "");
