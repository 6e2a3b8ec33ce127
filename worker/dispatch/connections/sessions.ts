// The sessions that the hub signs for its nodes, and how far apart they reconnect.
import { SESSION_MS } from "#shared/protocol/frames.ts";
import { signSession } from "../../crypto/node-session.ts";
import { type SettingsVariables, sealingKeysOf } from "../../settings.ts";
import type { NodeConnections, SocketNode } from "./node-connections.ts";

/** A hub accepts several hundred sockets a second, and has other work. */
const MS_PER_NODE = 4;
/** At most: 10,000 nodes are back in 30 s, with the time that the last ones take (`bench/fleet.ts --fault deploy`). */
const SPREAD_MS = { least: 500, most: 28_000 };

/** The time over which this number of nodes reconnect, in ms. */
export const reconnectSpreadMs = (nodes: number): number =>
  Math.min(SPREAD_MS.most, Math.max(SPREAD_MS.least, nodes * MS_PER_NODE));

export class Sessions {
  readonly #env: Pick<SettingsVariables, "MASTER_SECRET" | "SEALING_KEYS">;
  readonly #nodes: NodeConnections;

  constructor(env: Pick<SettingsVariables, "MASTER_SECRET" | "SEALING_KEYS">, nodes: NodeConnections) {
    this.#env = env;
    this.#nodes = nodes;
  }

  /** The session of a node that has just sent hello, and its spread. */
  first({ nodeId, about: { admitted } }: Pick<SocketNode, "nodeId" | "about">, now: number) {
    const { token, pool, labels, digest } = admitted;
    const expiresAt = now + SESSION_MS;
    const session = signSession({ token, pool, labels, digest, nodeId, expiresAt }, sealingKeysOf(this.#env));
    return { session, reconnectSpreadMs: reconnectSpreadMs(this.#nodes.size) };
  }

  /** Sends a node a new session when half the time of its last one has passed. */
  renew(node: SocketNode, now: number): void {
    const { about } = node;
    if (now - about.sessionAt < SESSION_MS / 2) return;
    this.#nodes.update(node, { about: { ...about, sessionAt: now } });
    this.#nodes.send(node, { type: "session", ...this.first(node, now) });
  }
}
