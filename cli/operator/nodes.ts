// copra nodes and copra autoscale.
import type { Autoscale, NodeDetails } from "../../client/index.ts";
import { adminOf } from "../client.ts";
import type { Run } from "../command-spec.ts";
import { EXIT } from "../exit.ts";
import { type Colors, statusColor } from "../terminal/colors.ts";
import { printable } from "../terminal/printable.ts";
import { table } from "../terminal/table.ts";
import { bytesText, durationText } from "../terminal/values.ts";

export const listNodes: Run = async (context) => {
  const { output, signal } = context;
  const nodes = await (await adminOf(context)).nodes.list({ signal });
  const { bold } = output.colors;
  const rows = (): string =>
    table([
      ["NODE", "STATE", "POOL", "RUNS", "FREE", "HARDWARE", "FFMPEG", "DISK FREE", "LABELS"].map(bold),
      ...nodes.map((node) => [
        printable(node.id),
        stateText(node, output.colors),
        node.pool,
        String(node.slots.encode.running + node.slots.inspect.running),
        String(node.slots.encode.free),
        hardwareText(node),
        printable(node.ffmpeg ?? ""),
        node.disk ? bytesText(node.disk.free_bytes) : "",
        printable(node.labels.join(" ")),
      ]),
    ]);
  const reasons = nodes.flatMap(({ id, not_ready }) => not_ready.map((reason) => printable(`${id}: ${reason}`)));
  output.data({ nodes }, () => [rows(), ...reasons].join("\n"));
  const offline = nodes.find(({ state }) => state === "offline");
  if (offline)
    output.words(`Offline nodes are cordoned: they get no work when they return. copra nodes uncordon ${offline.id}`);
  return EXIT.done;
};

/** Empty for a node that is not connected. */
const hardwareText = ({ hardware, cpus }: Pick<NodeDetails, "hardware" | "cpus">): string =>
  hardware ?? (cpus === null ? "" : `${cpus} CPUs`);

const stateText = ({ state }: Pick<NodeDetails, "state">, colors: Colors): string =>
  statusColor(state.replace("_", " "), colors);

export const showNode: Run = async (context, [id = ""]) => {
  const node = await (await adminOf(context)).nodes.get(id, { signal: context.signal });
  context.output.data(node, () => nodeText(node, context.output.colors));
  return EXIT.done;
};

/** Cordons, drains or uncordons a node. */
export const changeNode =
  (verb: "cordon" | "drain" | "uncordon"): Run =>
  async (context, [id = ""]) => {
    const admin = await adminOf(context);
    const node = await admin.nodes[verb](id, { signal: context.signal });
    context.output.data(node, () => `${printable(node.id)} ${statusColor(node.state, context.output.colors)}`);
    return EXIT.done;
  };

function nodeText(node: NodeDetails, colors: Colors): string {
  const { slots, disk, capabilities } = node;
  const facts = [
    ["node", printable(node.id)],
    ["state", stateText(node, colors)],
    ...node.not_ready.map((reason) => ["reason", printable(reason)]),
    ["pool", node.pool],
    ["labels", printable(node.labels.join(" "))],
    ["host", printable(node.host ?? "")],
    ["version", printable(`${node.version ?? ""}, protocol ${node.protocol ?? ""}, ffmpeg ${node.ffmpeg ?? ""}`)],
    ["machine", `${node.cpus ?? "?"} CPUs${node.hardware ? `, ${node.hardware}` : ""}${node.spot ? ", spot" : ""}`],
    ["disk", disk ? `${bytesText(disk.free_bytes)} of ${bytesText(disk.total_bytes)} free` : ""],
    [
      "slots",
      `encode ${slots.encode.running} of ${slots.encode.running + slots.encode.free}, inspect ${slots.inspect.running}`,
    ],
    ["failures", `${Math.round(node.score * 100)}% of its last jobs`],
    ["connected", node.connected_at ?? ""],
    ["encoders", capabilities ? printable(capabilities.encoders.join(" ")) : ""],
  ];
  const leases = node.running.map(({ lease, class: slotClass }) => [slotClass, lease]);
  return [table(facts.filter(([, value]) => value !== "")), ...(leases.length > 0 ? ["", table(leases)] : [])].join(
    "\n",
  );
}

export const showDemand: Run = async (context) => {
  const { output, signal } = context;
  const found = await (await adminOf(context)).autoscale({ signal });
  output.data(found, () => demandText(found, output.colors));
  return EXIT.done;
};

function demandText({ pools }: Autoscale, { bold }: Colors): string {
  const rows = Object.entries(pools).flatMap(([pool, demand]) =>
    (["encode", "inspect"] as const).map((slotClass) => {
      const { wanted, running, waiting, free, oldest_wait_seconds: oldest } = demand[slotClass];
      return [pool, slotClass, ...[wanted, running, waiting, free].map(String), durationText(oldest)];
    }),
  );
  return table([["POOL", "CLASS", "WANTED", "RUNS", "WAITS", "FREE", "OLDEST"].map(bold), ...rows]);
}
