// Admits nodes. Each node gets a name that its token owns. A node whose reports keep causing internal errors is
// excluded.
import { SESSION_MS } from "#shared/protocol/frames.ts";
import { type NameClaim, NodeNames } from "./node-names.ts";

/**
 * WebSocket close codes: "policy violation" (RFC 6455 §7.4.1), and "try again later" (IANA's registry of close codes).
 */
export const POLICY_VIOLATION = 1008;
export const TRY_AGAIN_LATER = 1013;
/**
 * Enough for 64 nodes, each with two sockets: a node may reconnect before the hub knows that its old socket is dead.
 */
export const MAX_SOCKETS_PER_TOKEN = 128;

/** The code and reason of a closed socket. Reasons have at most 123 bytes (RFC 6455 §5.5). */
export type CloseReason = { readonly code: number; readonly reason: string };

export const TOO_MANY_SOCKETS: CloseReason = {
  code: TRY_AGAIN_LATER,
  reason: `the token has ${MAX_SOCKETS_PER_TOKEN} connections: use a second token for some of the nodes`,
};
export const TOO_MANY_FAILURES: CloseReason = {
  code: TRY_AGAIN_LATER,
  reason: "reports of this node caused internal errors: it may reconnect in ten minutes",
};
export const NAME_TAKEN: CloseReason = {
  code: POLICY_VIOLATION,
  reason: "the name of this node belongs to another token: start it with another --name, or revoke that token",
};

export const REVOKED: CloseReason = { code: POLICY_VIOLATION, reason: "the token was revoked" };

export class Admission {
  readonly #names: NodeNames;
  readonly #revoked: RevokedTokens;
  readonly #failing = new FailingNodes();

  constructor(kv: SyncKvStorage) {
    this.#names = new NodeNames(kv);
    this.#revoked = new RevokedTokens(kv);
  }

  /** True if a token is revoked and its sessions may still be valid. */
  isRevoked(token: string, now: number): boolean {
    return this.#revoked.has(token, now);
  }

  /** Returns why a node is rejected, or null if it is admitted. Its token then owns its name. */
  rejectionOf(claim: NameClaim, now: number): CloseReason | null {
    if (!this.#failing.mayConnect(claim.nodeId, now)) return TOO_MANY_FAILURES;
    return this.#names.reserve(claim, now) ? null : NAME_TAKEN;
  }

  /** Counts an internal error that a node's report caused. Returns true if the node must be disconnected. */
  countFailure(nodeId: string, now: number): boolean {
    return this.#failing.count(nodeId, now);
  }

  /** Rejects a token from now on, and frees its names. */
  revoke(token: string, now: number): void {
    this.#revoked.add(token, now);
    this.#names.release(token);
  }
}

// Nodes whose reports keep causing internal errors may not connect for a while.

/**
 * Maximum number of internal errors within WINDOW_MS. The job gives up a single broken report sooner
 * (job/lease-requests.ts).
 */
const MAX_FAILURES = 10;
const WINDOW_MS = 10 * 60_000;
/** Exclusion time of such a node. */
const EXCLUDED_MS = 10 * 60_000;

type Failures = { count: number; since: number; excludedUntil: number };

/** In memory only. After the hub loses its memory, the same number of errors excludes the node again. */
class FailingNodes {
  readonly #failures = new Map<string, Failures>();

  /** Counts an internal error that a node's report caused. Returns true if the node is excluded. */
  count(nodeId: string, now: number): boolean {
    const known = this.#failures.get(nodeId);
    const isRecent = known && now - known.since < WINDOW_MS;
    const failures = isRecent ? known : { count: 0, since: now, excludedUntil: 0 };
    failures.count += 1;
    if (failures.count >= MAX_FAILURES) failures.excludedUntil = now + EXCLUDED_MS;
    this.#failures.set(nodeId, failures);
    return failures.excludedUntil > now;
  }

  mayConnect(nodeId: string, now: number): boolean {
    const known = this.#failures.get(nodeId);
    if (known && Math.max(known.excludedUntil, known.since + WINDOW_MS) <= now) this.#failures.delete(nodeId);
    return (known?.excludedUntil ?? 0) <= now;
  }
}

/**
 * Revoked tokens are kept as long as their nodes' sessions may be valid: sessions are not looked up in the database.
 */
const PREFIX = "revoked:";
/** Another hub of the pool may sign a last session before the revocation reaches it. */
const KEEP_MS = SESSION_MS + 10 * 60_000;

export class RevokedTokens {
  readonly #kv: SyncKvStorage;
  /** Time of each revocation, by token; ms since 1970. */
  readonly #revokedAt = new Map<string, number>();

  /** Loads the revoked tokens from disk. */
  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
    for (const [key, at] of kv.list({ prefix: PREFIX })) {
      this.#revokedAt.set(key.slice(PREFIX.length), typeof at === "number" ? at : 0);
    }
  }

  has(token: string, now: number): boolean {
    return now - (this.#revokedAt.get(token) ?? Number.NEGATIVE_INFINITY) < KEEP_MS;
  }

  /** Adds a token, and removes the tokens whose sessions have expired. */
  add(token: string, now: number): void {
    for (const [old, at] of this.#revokedAt) if (now - at >= KEEP_MS) this.#remove(old);
    this.#revokedAt.set(token, now);
    this.#kv.put(PREFIX + token, now);
  }

  #remove(token: string): void {
    this.#revokedAt.delete(token);
    this.#kv.delete(PREFIX + token);
  }
}
