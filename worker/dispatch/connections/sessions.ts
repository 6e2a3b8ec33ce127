// Signs the sessions of nodes, and computes the time over which nodes reconnect.
import { SESSION_MS } from "#shared/protocol/frames.ts";
import { signSession } from "../../crypto/node-session.ts";
import { type SettingsVariables, sealingKeysOf } from "../../settings.ts";
import type { NodeConnections, SocketNode } from "./node-connections.ts";

/** A hub accepts several hundred sockets a second, and has other work. */
const MS_PER_NODE = 4;
/**
 * The maximum lets 10,000 nodes return in 30 s, including the time that the last nodes take (`bench/fleet.ts --fault
 * deploy`).
 */
const SPREAD_MS = { least: 500, most: 28_000 };

/** The time in ms over which this number of nodes reconnect. */
export const reconnectSpreadMs = (nodes: number): number =>
  Math.min(SPREAD_MS.most, Math.max(SPREAD_MS.least, nodes * MS_PER_NODE));

export class Sessions {
  readonly #env: Pick<SettingsVariables, "MASTER_SECRET" | "SEALING_KEYS">;
  readonly #nodes: NodeConnections;

  constructor(env: Pick<SettingsVariables, "MASTER_SECRET" | "SEALING_KEYS">, nodes: NodeConnections) {
    this.#env = env;
    this.#nodes = nodes;
  }

  /** The first session of a node that has just sent hello, and its reconnect spread. */
  first({ nodeId, about: { admitted } }: Pick<SocketNode, "nodeId" | "about">, now: number) {
    const { token, pool, labels, digest } = admitted;
    const expiresAt = now + SESSION_MS;
    const session = signSession({ token, pool, labels, digest, nodeId, expiresAt }, sealingKeysOf(this.#env));
    return { session, reconnectSpreadMs: reconnectSpreadMs(this.#nodes.size) };
  }

  /** Sends a node a new session once half the time of its last session has passed. */
  renew(node: SocketNode, now: number): void {
    const { about } = node;
    if (now - about.sessionAt < SESSION_MS / 2) return;
    this.#nodes.update(node, { about: { ...about, sessionAt: now } });
    this.#nodes.send(node, { type: "session", ...this.first(node, now) });
  }
}
