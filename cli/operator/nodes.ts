// copra nodes and copra autoscale.
import type { Autoscale, NodeDetails, NodeHistory } from "../../client/index.ts";
import { adminOf } from "../client.ts";
import type { Run } from "../command-spec.ts";
import { textOption } from "../context.ts";
import { EXIT, usageError } from "../exit.ts";
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
  const gone = nodes.flatMap((node) => (node.last_seen_at === null ? [] : printable(`${node.id}: ${goneText(node)}`)));
  output.data({ nodes }, () => [rows(), ...reasons, ...gone].join("\n"));
  const offline = nodes.find(({ state }) => state === "offline");
  if (offline)
    output.words(`Offline nodes are cordoned: they get no work when they return. copra nodes uncordon ${offline.id}`);
};

/** Returns the time when a disconnected node was last seen, and the number of leases lost with it. */
const goneText = ({ last_seen_at, lost_leases }: Pick<NodeDetails, "last_seen_at" | "lost_leases">): string =>
  `last seen ${last_seen_at}${lost_leases.length > 0 ? `, with ${lost_leases.join(" ")}` : ""}`;

/** Empty for a disconnected node. */
const hardwareText = ({ hardware, cpus }: Pick<NodeDetails, "hardware" | "cpus">): string =>
  hardware ?? (cpus === null ? "" : `${cpus} CPUs`);

const stateText = ({ state }: Pick<NodeDetails, "state">, colors: Colors): string =>
  statusColor(state.replace("_", " "), colors);

export const showNode: Run = async (context, [id = ""]) => {
  const { nodes } = await adminOf(context);
  const { signal, output } = context;
  const [node, history] = await Promise.all([nodes.get(id, { signal }), nodes.history(id, { signal })]);
  output.data(node, () => nodeText(node, history, output.colors));
};

/** Cordons, drains or uncordons a node, all nodes, or the nodes of a pool. */
export const changeNodes =
  (verb: "cordon" | "drain" | "uncordon"): Run =>
  async (context, [id], options) => {
    const { output, signal } = context;
    const pool = textOption(options, "pool");
    const named = [id !== undefined, options.all === true, pool !== undefined].filter(Boolean);
    if (named.length !== 1) throw usageError("Name a node, or give --all or --pool");
    const admin = await adminOf(context);
    if (id !== undefined) {
      const node = await admin.nodes[verb](id, { signal });
      output.data(node, () => `${printable(node.id)} ${statusColor(node.state, output.colors)}`);
      return EXIT.done;
    }
    const wanted = (await admin.nodes.list({ signal })).filter((node) => CHANGED_BY[verb](node.state));
    const nodes: NodeDetails[] = [];
    for (const node of wanted) {
      if (pool === undefined || node.pool === pool) nodes.push(await admin.nodes[verb](node.id, { signal }));
    }
    output.data({ nodes }, () => table(nodes.map((node) => [printable(node.id), stateText(node, output.colors)])));
  };

type State = NodeDetails["state"];
const isCordoned = (state: State): boolean => state === "cordoned" || state === "offline" || state === "draining";

/** Node states that each verb changes. */
const CHANGED_BY = {
  cordon: (state: State) => !isCordoned(state) && state !== "gone",
  drain: (state: State) => state !== "gone" && state !== "offline" && state !== "draining",
  uncordon: isCordoned,
} as const;

export const forgetNode: Run = async (context, [id = ""]) => {
  const node = await (await adminOf(context)).nodes.forget(id, { signal: context.signal });
  context.output.data(node, () => `${printable(node.id)} is forgotten`);
};

const BARS = "▁▂▃▄▅▆▇█";

/** A character for each hour, such as `▁▁▃█`. Empty without work. */
function sparkline({ steps }: NodeHistory): string {
  const hours = Array.from({ length: 24 }, (_, hour) => steps.slice(hour * 4, hour * 4 + 4));
  const busy = hours.map((hour) => hour.reduce((sum, step) => sum + step.busy, 0) / 4);
  const most = Math.max(...busy);
  return most === 0 ? "" : busy.map((value) => BARS[Math.round((value / most) * 7)]).join("");
}

function nodeText(node: NodeDetails, history: NodeHistory, colors: Colors): string {
  const { slots, disk, capabilities, version, protocol, ffmpeg, cpus } = node;
  const isConnected = node.last_seen_at === null && node.state !== "offline";
  const parts = [version, protocol !== null && `protocol ${protocol}`, ffmpeg !== null && `ffmpeg ${ffmpeg}`];
  const facts = [
    ["node", printable(node.id)],
    ["state", stateText(node, colors)],
    ...node.not_ready.map((reason) => ["reason", printable(reason)]),
    ["pool", node.pool],
    ["labels", printable(node.labels.join(" "))],
    ["host", printable(node.host ?? "")],
    ["version", printable(parts.filter(Boolean).join(", "))],
    [
      "machine",
      cpus === null ? "" : `${cpus} CPUs${node.hardware ? `, ${node.hardware}` : ""}${node.spot ? ", spot" : ""}`,
    ],
    ["disk", disk ? `${bytesText(disk.free_bytes)} of ${bytesText(disk.total_bytes)} free` : ""],
    [
      "slots",
      isConnected
        ? `encode ${slots.encode.running} of ${slots.encode.running + slots.encode.free}, inspect ${slots.inspect.running}`
        : "",
    ],
    ["last 24 h", sparkline(history)],
    ["failures", isConnected ? `${Math.round(node.score * 100)}% of its last jobs` : ""],
    ["connected", node.connected_at ?? ""],
    ["gone", node.last_seen_at === null ? "" : printable(goneText(node))],
    ["encoders", capabilities ? printable(capabilities.encoders.join(" ")) : ""],
  ];
  const leases = node.running.map(({ lease, class: slotClass }) => [slotClass, lease]);
  return [table(facts.filter(([, value]) => value !== "")), ...(leases.length > 0 ? ["", table(leases)] : [])].join(
    "\n",
  );
}

export const showDemand: Run = async (context) => {
  const { output, signal } = context;
  const demand = await (await adminOf(context)).autoscale({ signal });
  output.data(demand, () => demandText(demand, output.colors));
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
