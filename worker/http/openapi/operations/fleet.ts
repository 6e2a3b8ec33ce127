// Nodes, demand and metrics.
import { RESPONSE_EXAMPLES } from "../examples/responses.ts";
import { type Operation, pathParameter, success } from "../operation.ts";

const node = { tag: "Fleet", access: "operator", codes: ["node_not_found"] } as const;
const monitor = { tag: "Fleet", access: "monitor", codes: [] } as const;

const NODE = pathParameter("id", "The name of the node", RESPONSE_EXAMPLES.NodeDetails.id);

export const FLEET_OPERATIONS: readonly Operation[] = [
  {
    ...node,
    codes: [],
    method: "get",
    path: "/v2/admin/nodes",
    id: "listNodes",
    summary: "List nodes",
    description: "All nodes that are connected, that are cordoned, or that were connected within a week.",
    responses: [success(200, "The nodes", "NodeList")],
  },
  {
    ...node,
    method: "get",
    path: "/v2/admin/nodes/:id",
    id: "getNode",
    summary: "Read a node",
    parameters: [NODE],
    responses: [success(200, "The node with its leases and capabilities", "NodeDetails")],
  },
  {
    ...node,
    method: "get",
    path: "/v2/admin/nodes/:id/history",
    id: "getNodeHistory",
    summary: "Read the work of a node in the last 24 hours",
    description: "Busy slots and speed in steps of 15 minutes, also of nodes that are not connected.",
    parameters: [NODE],
    responses: [success(200, "The steps", "NodeHistory")],
  },
  {
    ...node,
    method: "post",
    path: "/v2/admin/nodes/:id/cordon",
    id: "cordonNode",
    summary: "Cordon a node",
    description:
      "The node gets no more work, also after it reconnects, until it is uncordoned. Its running tasks continue.",
    parameters: [NODE],
    responses: [success(200, "The node", "NodeDetails")],
  },
  {
    ...node,
    method: "post",
    path: "/v2/admin/nodes/:id/uncordon",
    id: "uncordonNode",
    summary: "Uncordon a node",
    description: "The node gets work again; a drained node does so after its next start.",
    parameters: [NODE],
    responses: [success(200, "The node", "NodeDetails")],
  },
  {
    ...node,
    method: "post",
    path: "/v2/admin/nodes/:id/drain",
    id: "drainNode",
    summary: "Drain a node",
    description: "Cordons the node, which finishes its tasks, and then ends. Requires that it is connected.",
    parameters: [NODE],
    responses: [success(200, "The node", "NodeDetails")],
  },
  {
    ...node,
    method: "delete",
    path: "/v2/admin/nodes/:id",
    id: "forgetNode",
    summary: "Forget a node",
    description:
      "Removes a node that is not connected from the list, with its cordon. If it returns, it is a node like any other.",
    parameters: [NODE],
    responses: [success(200, "The node, as it was last known", "NodeDetails")],
  },
  {
    ...monitor,
    method: "get",
    path: "/v2/autoscale",
    id: "autoscale",
    summary: "Read how much work runs and waits",
    description:
      "For programs that add and remove machines. If a part of the fleet does not answer, the response is an error and never " +
      "a number that is too low.",
    responses: [success(200, "The demand of all pools, and of each", "Autoscale")],
  },
  {
    ...monitor,
    method: "get",
    path: "/metrics",
    id: "metrics",
    summary: "Read metrics",
    description: "In the OpenMetrics format if the `Accept` header names it, else in the text format of Prometheus.",
    responses: [
      {
        status: 200,
        description: "The metrics",
        content: {
          mediaType: "text/plain",
          example: 'copra_tasks_waiting{pool="default",class="encode"} 5\n',
        },
      },
    ],
  },
];
