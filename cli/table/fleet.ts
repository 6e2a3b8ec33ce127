// copra nodes and copra autoscale.
import type { ArgumentSpec, CommandSpec } from "../command-spec.ts";

const NODE: ArgumentSpec = { name: "<node>", description: "The node's name" };
const nodes = () => import("../operator/nodes.ts");

export const FLEET_COMMANDS: readonly CommandSpec[] = [
  { name: "nodes ls", summary: "List nodes", load: async () => (await nodes()).listNodes },
  {
    name: "nodes show",
    summary: "Show a node with its capabilities and leases",
    arguments: [NODE],
    load: async () => (await nodes()).showNode,
  },
  {
    name: "nodes cordon",
    summary: "Give a node no more work; what it runs goes on",
    arguments: [NODE],
    load: async () => (await nodes()).changeNode("cordon"),
  },
  {
    name: "nodes drain",
    summary: "Give a node no more work, and let it end when its tasks are done",
    arguments: [NODE],
    load: async () => (await nodes()).changeNode("drain"),
  },
  {
    name: "nodes uncordon",
    summary: "Give a node work again",
    arguments: [NODE],
    load: async () => (await nodes()).changeNode("uncordon"),
  },
  {
    name: "autoscale",
    summary: "Show how many tasks run and wait in each pool (operator)",
    load: async () => (await nodes()).showDemand,
  },
];
