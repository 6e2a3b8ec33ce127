// copra nodes, copra alerts and copra autoscale.
import type { ArgumentSpec, CommandSpec, OptionSpec } from "../command-spec.ts";

const NODE: ArgumentSpec = { name: "<node>", description: "The node's name" };
const MAYBE_NODE: ArgumentSpec = { ...NODE, name: "[node]" };
const MANY: readonly OptionSpec[] = [
  { flags: "--all", description: "All nodes" },
  { flags: "--pool <pool>", description: "The nodes of this pool" },
];
const ALERT: ArgumentSpec = { name: "<name>", description: "The alert's name" };
const alerts = () => import("../operator/alerts.ts");
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
    summary: "Give nodes no more work; their running tasks continue",
    arguments: [MAYBE_NODE],
    options: MANY,
    load: async () => (await nodes()).changeNodes("cordon"),
  },
  {
    name: "nodes drain",
    summary: "Give nodes no more work, and let them end when their tasks are done",
    arguments: [MAYBE_NODE],
    options: MANY,
    load: async () => (await nodes()).changeNodes("drain"),
  },
  {
    name: "nodes uncordon",
    summary: "Give nodes work again",
    arguments: [MAYBE_NODE],
    options: MANY,
    load: async () => (await nodes()).changeNodes("uncordon"),
  },
  {
    name: "nodes forget",
    summary: "Remove a node that is not connected from the list",
    arguments: [NODE],
    load: async () => (await nodes()).forgetNode,
  },
  { name: "alerts ls", summary: "List alerts", load: async () => (await alerts()).listAlerts },
  {
    name: "alerts set",
    summary: "Create or replace an alert",
    arguments: [ALERT, { name: "[file]", description: "The alert; standard input by default", complete: "file" }],
    examples: ["copra alerts set full-disk full-disk.json"],
    load: async () => (await alerts()).setAlert,
  },
  {
    name: "alerts test",
    summary: "Send a test message of an alert",
    arguments: [ALERT],
    load: async () => (await alerts()).testAlert,
  },
  {
    name: "alerts rm",
    summary: "Delete alerts",
    arguments: [{ name: "<names...>", description: "The alerts' names" }],
    load: async () => (await alerts()).deleteAlerts,
  },
  {
    name: "autoscale",
    summary: "Show how many tasks run and wait in each pool",
    load: async () => (await nodes()).showDemand,
  },
];
