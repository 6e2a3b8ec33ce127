// Checks of `doctor` that need an operator's token: nodes, and work that waits for them.
import type { CopraAdmin } from "../../client/admin.ts";
import type { Autoscale, NodeList } from "../../client/index.ts";
import { printable } from "../terminal/printable.ts";
import { bytesText, durationText } from "../terminal/values.ts";
import type { Check } from "./check.ts";

type Node = NodeList["nodes"][number];
type Demand = Autoscale["pools"];

const LOW_DISK_BYTES = 10e9;
/** A wait of this length is no short peak. */
const LONG_WAIT_S = 600;
const MOST_NAMES = 5;

/** Reads nodes and pools from the service and checks them. Throws CopraError. */
export async function fleetChecks(admin: CopraAdmin, version: string, signal: AbortSignal): Promise<Check[]> {
  const [nodes, { pools }] = await Promise.all([admin.nodes.list({ signal }), admin.autoscale({ signal })]);
  return checksOfFleet(nodes, pools, version);
}

/**
 * Returns a failed check for each problem, or a single passed check if there are none. `version`: version of this
 * command line.
 */
export function checksOfFleet(nodes: readonly Node[], pools: Demand, version: string): Check[] {
  const found = [
    ...reachChecks(nodes),
    ...stateChecks(nodes),
    ...diskChecks(nodes),
    ...versionChecks(nodes, version),
    ...ffmpegChecks(nodes),
    ...Object.entries(pools).flatMap(([pool, demand]) => waitingChecks(nodes, pool, demand)),
  ];
  return found.length > 0 ? found : [{ name: "fleet", result: "ok", detail: "nodes are in order, and nothing waits" }];
}

const namesOf = (nodes: readonly Node[]): string =>
  nodes
    .slice(0, MOST_NAMES)
    .map(({ id }) => printable(id))
    .join(", ") + (nodes.length > MOST_NAMES ? ` and ${nodes.length - MOST_NAMES} more` : "");

const reachChecks = (nodes: readonly Node[]): Check[] =>
  nodes.flatMap(({ id, not_ready: reasons }) =>
    reasons.map((reason): Check => ({ name: "not ready", result: "failed", detail: printable(`${id}: ${reason}`) })),
  );

function stateChecks(nodes: readonly Node[]): Check[] {
  const quarantined = nodes.filter(({ state }) => state === "quarantined");
  if (quarantined.length === 0) return [];
  const advice = "They failed several jobs: see their logs, and copra nodes show <node>";
  return [{ name: "quarantine", result: "failed", detail: namesOf(quarantined), advice }];
}

const diskChecks = (nodes: readonly Node[]): Check[] =>
  nodes
    .filter(({ disk }) => disk !== null && disk.free_bytes < LOW_DISK_BYTES)
    .map(({ id, disk }) => ({
      name: "disk",
      result: "missing",
      detail: `${printable(id)} has ${bytesText(disk?.free_bytes ?? 0)} free`,
      advice: "It needs space for sources and results: free some, or move its --work folder",
    }));

function versionChecks(nodes: readonly Node[], version: string): Check[] {
  const others = nodes.filter((node) => node.version !== null && node.version !== version);
  if (others.length === 0) return [];
  const versions = [...new Set(others.map((node) => printable(node.version ?? "")))].join(", ");
  return [
    {
      name: "versions",
      result: "missing",
      detail: `${namesOf(others)}: ${versions} instead of ${version}`,
      advice: "Update them: the control plane understands nodes of one release before it",
    },
  ];
}

/**
 * Checks that the nodes of a pool have the same major version of ffmpeg. Chunks of a video are joined, and encoders of
 * different versions produce different streams.
 */
function ffmpegChecks(nodes: readonly Node[]): Check[] {
  const pools = [...new Set(nodes.map(({ pool }) => pool))];
  return pools.flatMap((pool): Check[] => {
    const members = nodes.filter((node) => node.pool === pool);
    const majors = new Set(members.flatMap(({ ffmpeg }) => /^n?(\d+)/.exec(ffmpeg ?? "")?.[1] ?? []));
    if (majors.size < 2) return [];
    const detail = `pool ${pool} has ffmpeg ${[...majors].sort().join(" and ")}`;
    const advice = "Chunks of a video need the same version: update the nodes, or give each version its own pool";
    return [{ name: "ffmpeg", result: "missing", detail, advice }];
  });
}

function waitingChecks(nodes: readonly Node[], pool: string, { encode }: Demand[string]): Check[] {
  const { waiting, oldest_wait_seconds: oldest } = encode;
  if (waiting === 0) return [];
  const detail = `${waiting} ${waiting === 1 ? "task waits" : "tasks wait"} in pool ${pool}, up to ${durationText(oldest)}`;
  const ready = nodes.filter((node) => node.pool === pool && node.state === "ready");
  if (ready.length === 0) {
    return [{ name: "work", result: "failed", detail, advice: "No node of this pool gets work: copra nodes" }];
  }
  if (oldest < LONG_WAIT_S) return [];
  return [{ name: "work", result: "missing", detail, advice: "More nodes would help: copra autoscale" }];
}
