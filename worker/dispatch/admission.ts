// Who is let in: a node under a name that is its token's own, whose reports do not break the control plane.
import { FaultyNodes } from "./faulty-nodes.ts";
import { NodeNames } from "./node-names.ts";

/** WebSocket close codes: "policy violation" (RFC 6455 §7.4.1), and "try again later" (IANA's registry of close codes). */
export const POLICY_VIOLATION = 1008;
export const TRY_AGAIN_LATER = 1013;
/** For 64 nodes, each of which may have come back before its old connection is known to be dead. */
export const MAX_SOCKETS_PER_TOKEN = 128;

/** With which code and reason a socket is closed. Reasons have at most 123 bytes (RFC 6455 §5.5). */
export type Refusal = { readonly code: number; readonly reason: string };

export const TOO_MANY_SOCKETS: Refusal = {
  code: TRY_AGAIN_LATER,
  reason: `the token has ${MAX_SOCKETS_PER_TOKEN} connections: give some of the nodes a token of their own`,
};
export const SENT_AWAY: Refusal = {
  code: TRY_AGAIN_LATER,
  reason: "reports of this node caused internal errors: it may come back in some minutes",
};
const NAME_TAKEN: Refusal = {
  code: POLICY_VIOLATION,
  reason: "the name of this node belongs to another token: start it with another --name, or revoke that token",
};

export class Admission {
  readonly #names: NodeNames;
  readonly #faulty = new FaultyNodes();

  constructor(kv: SyncKvStorage) {
    this.#names = new NodeNames(kv);
  }

  /** Why a node is not let in; null: it is, and the name is its token's. `isConnected`: a node of that name is. */
  refusalOf(nodeId: string, token: string, isConnected: boolean, now: number): Refusal | null {
    if (!this.#faulty.mayCome(nodeId, now)) return SENT_AWAY;
    return this.#names.take(nodeId, token, isConnected, now) ? null : NAME_TAKEN;
  }

  /** The control plane failed at a report of a node; true: the node must go. */
  faulted(nodeId: string, now: number): boolean {
    return this.#faulty.note(nodeId, now);
  }

  /** A token was revoked. */
  release(token: string): void {
    this.#names.release(token);
  }
}
