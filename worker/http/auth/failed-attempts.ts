// Limits for wrong credentials: a network that sends too many is blocked before any database access, and an unknown
// credential is not looked up again for a short time.
import type { HonoRequest } from "hono";
import { AppError } from "#shared/errors.ts";
import { clientNetwork } from "#shared/network/client-network.ts";
import type { Env } from "../../bindings.ts";
import { log } from "../../log.ts";
import { ExpiringSet } from "./expiring-set.ts";

type AnyContext = { readonly req: Pick<HonoRequest, "header" | "path">; readonly env: Env };

/** The periods of REFUSED_RATE and ADMIN_REFUSED_RATE in wrangler.toml. */
const BLOCK_SECONDS = 10;
const ADMIN_BLOCK_SECONDS = 60;
const UNKNOWN_MS = 10_000;
/** Networks may be shared: credentials that were valid within this time are still looked up. */
const VALID_MS = 10 * 60_000;
/** About 100 bytes an entry: 1 MB together. */
const MAX_ENTRIES = 5000;

const blocked = new ExpiringSet(BLOCK_SECONDS * 1000, MAX_ENTRIES);
const adminBlocked = new ExpiringSet(ADMIN_BLOCK_SECONDS * 1000, MAX_ENTRIES);
const unknown = new ExpiringSet(UNKNOWN_MS, MAX_ENTRIES);
const valid = new ExpiringSet(VALID_MS, MAX_ENTRIES);

/**
 * What a credential belongs to; null if it is unknown. Calls `lookUp` (the database) at most once per ten seconds for
 * an unknown credential, and never for a blocked network. Throws AppError(rate_limited).
 */
export async function findCredential<Value>(
  context: AnyContext,
  digest: string,
  lookUp: () => Promise<Value | null>,
): Promise<Value | null> {
  const now = Date.now();
  const network = networkOf(context);
  if (network !== null && blocked.has(network, now) && !valid.has(digest, now)) {
    throw tooMany("API keys or node tokens", BLOCK_SECONDS);
  }
  const found = unknown.has(digest, now) ? null : await lookUp();
  if (found !== null) {
    valid.add(digest, now);
    return found;
  }
  unknown.add(digest, now);
  if (network !== null && !(await context.env.REFUSED_RATE.limit({ key: network })).success) blocked.add(network, now);
  return null;
}

/**
 * Whether `compare` accepts the admin token. Throws AppError(rate_limited) for networks that sent too many wrong ones.
 */
export async function checkAdminToken(context: AnyContext, compare: () => Promise<boolean>): Promise<boolean> {
  const now = Date.now();
  const network = networkOf(context);
  if (network !== null && adminBlocked.has(network, now)) throw tooMany("admin tokens", ADMIN_BLOCK_SECONDS);
  if (await compare()) return true;
  log.warn("Wrong admin token", { address: context.req.header("cf-connecting-ip") ?? null, path: context.req.path });
  if (network === null) return false;
  if (!(await context.env.ADMIN_REFUSED_RATE.limit({ key: network })).success) adminBlocked.add(network, now);
  return false;
}

const tooMany = (what: string, retryAfterSeconds: number): AppError =>
  new AppError("rate_limited", `Too many wrong ${what} from this IP address; try again in ${retryAfterSeconds} s`, {
    retryAfterSeconds,
  });

/** The client's network: of the address that Cloudflare or the local front server set, whatever the client sends. */
export const networkOf = ({ req }: AnyContext): string | null => clientNetwork(req.header("cf-connecting-ip") ?? "");
