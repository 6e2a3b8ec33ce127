// What wrong credentials cost whoever sends them: a network that keeps sending unknown ones is refused before the database
// is asked, and a credential that was just not found is not looked up again.
import type { HonoRequest } from "hono";
import ipaddr from "ipaddr.js";
import { AppError } from "#shared/errors.ts";
import { type Env, log } from "../../env.ts";
import { ShortMemory } from "./expiring-map.ts";

type AnyContext = { readonly req: Pick<HonoRequest, "header" | "path">; readonly env: Env };

/** The periods of REFUSED_RATE and ADMIN_REFUSED_RATE in wrangler.toml. */
const BLOCK_SECONDS = 10;
const ADMIN_BLOCK_SECONDS = 60;
const UNKNOWN_MS = 10_000;
/** A shared address may also send good credentials: those that were good within this time are still looked up. */
const GOOD_MS = 10 * 60_000;
/** About 100 bytes an entry: 1 MB together. */
const MAX_ENTRIES = 5000;

const blocked = new ShortMemory(BLOCK_SECONDS * 1000, MAX_ENTRIES);
const adminBlocked = new ShortMemory(ADMIN_BLOCK_SECONDS * 1000, MAX_ENTRIES);
const unknown = new ShortMemory(UNKNOWN_MS, MAX_ENTRIES);
const good = new ShortMemory(GOOD_MS, MAX_ENTRIES);

/**
 * What a credential opens, or null. Asks `lookUp` (the database) at most once in ten seconds for one that is unknown, and not
 * at all for a network that has sent too many of those. Throws AppError(rate_limited).
 */
export async function whatOpens<Value>(
  context: AnyContext,
  digest: string,
  lookUp: () => Promise<Value | null>,
): Promise<Value | null> {
  const now = Date.now();
  const network = networkOf(context);
  if (network !== null && blocked.has(network, now) && !good.has(digest, now)) {
    throw tooMany("API keys or node tokens", BLOCK_SECONDS);
  }
  const found = unknown.has(digest, now) ? null : await lookUp();
  if (found !== null) {
    good.add(digest, now);
    return found;
  }
  unknown.add(digest, now);
  if (network !== null && !(await context.env.REFUSED_RATE.limit({ key: network })).success) blocked.add(network, now);
  return null;
}

/** Lets `compare` judge an admin token, but for networks that sent too many wrong ones. Throws AppError(rate_limited). */
export async function judgeAdminToken(context: AnyContext, compare: () => Promise<boolean>): Promise<boolean> {
  const now = Date.now();
  const network = networkOf(context);
  if (network !== null && adminBlocked.has(network, now)) throw tooMany("admin tokens", ADMIN_BLOCK_SECONDS);
  if (await compare()) return true;
  log.warn("Wrong admin token", { address: addressOf(context)?.toString() ?? null, path: context.req.path });
  if (network === null) return false;
  if (!(await context.env.ADMIN_REFUSED_RATE.limit({ key: network })).success) adminBlocked.add(network, now);
  return false;
}

const tooMany = (what: string, retryAfterSeconds: number): AppError =>
  new AppError("rate_limited", `Too many wrong ${what} came from this address; try again in ${retryAfterSeconds} s`, {
    retryAfterSeconds,
  });

/** The address of whoever connected to Cloudflare, or to the local system's front server; both replace what clients send. */
function addressOf({ req }: AnyContext): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const header = req.header("cf-connecting-ip") ?? "";
  return ipaddr.isValid(header) ? ipaddr.process(header) : null;
}

/** The client's IPv4 address, or its IPv6 network of 64 bits, within which one host has as many addresses as it likes. */
export function networkOf(context: AnyContext): string | null {
  const address = addressOf(context);
  if (!(address instanceof ipaddr.IPv6)) return address?.toString() ?? null;
  return `${ipaddr.fromByteArray([...address.toByteArray().slice(0, 8), 0, 0, 0, 0, 0, 0, 0, 0])}/64`;
}
