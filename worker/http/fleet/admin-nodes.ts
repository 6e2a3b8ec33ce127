// /v2/admin/nodes: the operator lists nodes, and decides which nodes get work.

import type { Context } from "hono";
import type { Node, NodeDetails, NodeHistory, NodeList } from "#shared/api/node-responses.ts";
import { instant } from "#shared/api/task-responses.ts";
import { AppError } from "#shared/errors.ts";
import { STEP_MS } from "../../rpc/hub-reports.ts";
import type { AdminEnv } from "../auth/auth.ts";
import { mount } from "../operation/mount.ts";
import { jsonResponse } from "../responses/json-response.ts";
import { askAllHubs, type HubStub } from "./ask-hubs.ts";
import { NODE_OPERATIONS } from "./fleet.operations.ts";

export const adminNodes = mount(NODE_OPERATIONS, {
  listNodes: async (context) => {
    const reports = (await askAllHubs(context.env, (hub) => hub.nodes())).flat();
    return jsonResponse(context, { nodes: reports.map(({ node }) => node).sort(byPoolAndName) } satisfies NodeList);
  },
  getNodeHistory: async (context) => {
    const id = context.req.param("id");
    const histories = (await askAllHubs(context.env, (hub) => hub.history(id))).filter((history) => history !== null);
    const history = histories.find(({ isConnected }) => isConnected) ?? histories[0];
    if (!history) throw new AppError("node_not_found", UNKNOWN);
    const round = (value: number): number => Math.round(value * 100) / 100;
    const steps = history.steps.map(({ at, busy, speed }) => ({
      at: instant(at),
      busy: round(busy),
      speed: round(speed),
    }));
    return jsonResponse(context, { id, step_seconds: STEP_MS / 1000, steps } satisfies NodeHistory);
  },
  getNode: (context) => respond(context, (hub, id) => hub.node(id)),
  drainNode: (context) => respond(context, (hub, id) => hub.drain(id)),
  cordonNode: (context) => respond(context, (hub, id) => hub.cordon(id, true)),
  uncordonNode: (context) => respond(context, (hub, id) => hub.cordon(id, false)),
  forgetNode: (context) =>
    respond(context, (hub, id) => hub.forget(id), "No node of this name is known and not connected; drain it first"),
});

const UNKNOWN = "No node of this name is connected, cordoned or has been here within a week";

/** Responds with the node that a hub knows. If several pools have the name, it means the connected node. */
async function respond(
  context: Context<AdminEnv, "/nodes/:id">,
  ask: (hub: HubStub, id: string) => Promise<NodeDetails | null>,
  unknown = UNKNOWN,
): Promise<Response> {
  const id = context.req.param("id");
  const nodes = (await askAllHubs(context.env, (hub) => ask(hub, id))).filter((node) => node !== null);
  const node = nodes.find(({ last_seen_at: lastSeenAt }) => lastSeenAt === null) ?? nodes[0];
  if (!node) throw new AppError("node_not_found", unknown);
  return jsonResponse(context, node satisfies NodeDetails);
}

/** Order by pool, then by name. */
const byPoolAndName = (one: Node, other: Node): number =>
  one.pool.localeCompare(other.pool) || one.id.localeCompare(other.id);
