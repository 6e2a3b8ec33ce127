// Admits nodes: each under a name that its token owns, unless its reports keep causing internal errors.
import { FailingNodes } from "./failing-nodes.ts";
import { type NameClaim, NodeNames } from "./node-names.ts";
import { RevokedTokens } from "./revoked-tokens.ts";

/**
 * WebSocket close codes: "policy violation" (RFC 6455 §7.4.1), and "try again later" (IANA's registry of close codes).
 */
export const POLICY_VIOLATION = 1008;
export const TRY_AGAIN_LATER = 1013;
/** Enough for 64 nodes, each of which may have reconnected before its old connection is known to be dead. */
export const MAX_SOCKETS_PER_TOKEN = 128;

/** The code and reason with which a socket is closed. Reasons have at most 123 bytes (RFC 6455 §5.5). */
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

  /** Whether a token was revoked while sessions of it may still be valid. */
  isRevoked(token: string, now: number): boolean {
    return this.#revoked.has(token, now);
  }

  /** Why a node is not admitted, or null. An admitted node's name then belongs to its token. */
  rejectionOf(claim: NameClaim, now: number): CloseReason | null {
    if (!this.#failing.mayConnect(claim.nodeId, now)) return TOO_MANY_FAILURES;
    return this.#names.take(claim, now) ? null : NAME_TAKEN;
  }

  /** A report of a node caused an internal error; true: the node must be disconnected. */
  countFailure(nodeId: string, now: number): boolean {
    return this.#failing.count(nodeId, now);
  }

  /** A token was revoked. */
  revoke(token: string, now: number): void {
    this.#revoked.add(token, now);
    this.#names.release(token);
  }
}
