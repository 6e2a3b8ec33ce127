// /v2/admin/nodes: the operator lists nodes, and decides which of them get work.
import { type Context, Hono } from "hono";
import type { NodeDetails, NodeList } from "#shared/api/node-responses.ts";
import { AppError } from "#shared/errors.ts";
import type { Env } from "../../../bindings.ts";
import type { NodeDetail } from "../../../rpc/hub-reports.ts";
import type { AdminEnv } from "../../auth/auth.ts";
import { allPools, askHubs, type HubStub } from "../../fleet/ask-hubs.ts";
import { byPoolAndName, viewNode, viewNodeDetails } from "../../fleet/node-view.ts";
import { jsonResponse } from "../../responses/json-response.ts";

export const adminNodes = new Hono<AdminEnv>({ strict: false })
  .get("/nodes", async (context) => {
    const nodes = (await askAll(context.env, (hub) => hub.nodes())).flat();
    return jsonResponse(context, { nodes: nodes.sort(byPoolAndName).map(viewNode) } satisfies NodeList);
  })
  .get("/nodes/:id", (context) => respond(context, (hub, id) => hub.node(id)))
  .post("/nodes/:id/drain", (context) => respond(context, (hub, id) => hub.drain(id)))
  .post("/nodes/:id/cordon", (context) => respond(context, (hub, id) => hub.cordon(id, true)))
  .post("/nodes/:id/uncordon", (context) => respond(context, (hub, id) => hub.cordon(id, false)));

const askAll = async <Answer>(env: Env, ask: (hub: HubStub) => Promise<Answer>): Promise<Answer[]> =>
  askHubs(env, await allPools(env), ask);

/** Responds with the node that a hub knows; a name that several pools have means the node that is connected. */
async function respond(
  context: Context<AdminEnv, "/nodes/:id">,
  ask: (hub: HubStub, id: string) => Promise<NodeDetail | null>,
): Promise<Response> {
  const id = context.req.param("id");
  const found = (await askAll(context.env, (hub) => ask(hub, id))).filter((node) => node !== null);
  const node = found.find(({ state }) => state !== "offline") ?? found[0];
  if (!node) throw new AppError("node_not_found", "No node of this name is connected or cordoned");
  return jsonResponse(context, viewNodeDetails(node) satisfies NodeDetails);
}
