// Nodes, demand and metrics.
import { Autoscale, NodeDetails, NodeHistory, NodeList } from "#shared/api/node-responses.ts";
import { RESPONSE_EXAMPLES } from "../operation/examples/responses.ts";
import { operations, pathParameter, success } from "../operation/operation.ts";

const NODE = pathParameter("id", "The name of the node", RESPONSE_EXAMPLES.NodeDetails.id);

export const NODE_OPERATIONS = operations({
  tag: "Fleet",
  access: "operator",
  path: [NODE],
  codes: ["node_not_found"],
})({
  listNodes: {
    route: "GET /v2/admin/nodes",
    summary: "List nodes",
    description: "All nodes that are connected, that are cordoned, or that were connected within a week.",
    responses: [success(200, "The nodes", NodeList)],
    codes: [],
  },
  getNode: {
    route: "GET /v2/admin/nodes/:id",
    summary: "Read a node",
    responses: [success(200, "The node with its leases and capabilities", NodeDetails)],
  },
  getNodeHistory: {
    route: "GET /v2/admin/nodes/:id/history",
    summary: "Read the work of a node in the last 24 hours",
    description: "Busy slots and speed in steps of 15 minutes, also of nodes that are not connected.",
    responses: [success(200, "The steps", NodeHistory)],
  },
  cordonNode: {
    route: "POST /v2/admin/nodes/:id/cordon",
    summary: "Cordon a node",
    description:
      "The node gets no more work, also after it reconnects, until it is uncordoned. Its running tasks continue.",
    responses: [success(200, "The node", NodeDetails)],
  },
  uncordonNode: {
    route: "POST /v2/admin/nodes/:id/uncordon",
    summary: "Uncordon a node",
    description: "The node gets work again; a drained node does so after its next start.",
    responses: [success(200, "The node", NodeDetails)],
  },
  drainNode: {
    route: "POST /v2/admin/nodes/:id/drain",
    summary: "Drain a node",
    description: "Cordons the node, which finishes its tasks, and then ends. Requires that it is connected.",
    responses: [success(200, "The node", NodeDetails)],
  },
  forgetNode: {
    route: "DELETE /v2/admin/nodes/:id",
    summary: "Forget a node",
    description:
      "Removes a node that is not connected from the list, with its cordon. If it returns, it is a node like any other.",
    responses: [success(200, "The node, as it was last known", NodeDetails)],
  },
});

export const MONITOR_OPERATIONS = operations({ tag: "Fleet", access: "monitor" })({
  autoscale: {
    route: "GET /v2/autoscale",
    summary: "Read how much work runs and waits",
    description:
      "For programs that add and remove machines. If a part of the fleet does not answer, the response is an error and never " +
      "a number that is too low.",
    responses: [success(200, "The demand of all pools, and of each", Autoscale)],
  },
  metrics: {
    route: "GET /metrics",
    summary: "Read metrics",
    description: "In the OpenMetrics format if the `Accept` header names it, else in the text format of Prometheus.",
    responses: [
      {
        status: 200,
        description: "The metrics",
        content: { mediaType: "text/plain", example: 'copra_tasks_waiting{pool="default",class="encode"} 5\n' },
      },
    ],
  },
});
