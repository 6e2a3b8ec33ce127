// Load, notes and search of nodes for the nodes page. Pure.
import type { Autoscale, Node, NodeDetails } from "../../client/index.ts";
import { bytes, percent } from "../core/format.ts";

export const STATES = [
  "ready",
  "not_ready",
  "cordoned",
  "draining",
  "quarantined",
  "offline",
  "gone",
] as const satisfies readonly Node["state"][];

export type SlotClass = keyof Node["slots"];
export type Load = { readonly running: number; readonly total: number };

export const loadOf = ({ slots }: Pick<Node, "slots">, slotClass: SlotClass): Load => {
  const { running, free } = slots[slotClass];
  return { running, total: running + free };
};

/** The load of all nodes. */
export const totalLoad = (nodes: readonly Node[], slotClass: SlotClass): Load =>
  nodes
    .map((node) => loadOf(node, slotClass))
    .reduce((sum, { running, total }) => ({ running: sum.running + running, total: sum.total + total }), {
      running: 0,
      total: 0,
    });

/** A note for the operator about a node. */
export type Note = { readonly kind: "warn" | "info"; readonly text: string };

/** A node with less free disk may not fetch its next source. */
const LOW_DISK_BYTES = 10e9;
const LOW_DISK_SHARE = 0.05;

/** The most frequent ffmpeg version of each pool: all chunks of a video need the same version (docs/nodes.md). */
export function usualVersions(nodes: readonly Node[]): ReadonlyMap<string, string> {
  const counts = new Map<string, Map<string, number>>();
  for (const { pool, ffmpeg } of nodes) {
    if (ffmpeg === null) continue;
    const versions = counts.get(pool) ?? new Map<string, number>();
    counts.set(pool, versions.set(ffmpeg, (versions.get(ffmpeg) ?? 0) + 1));
  }
  const usual = [...counts].map(([pool, versions]) => {
    const [most] = [...versions].sort(([, a], [, b]) => b - a);
    return [pool, most?.[0] ?? ""] as const;
  });
  return new Map(usual);
}

/** Unusual facts about a node. `usual`: `usualVersions` of all nodes. */
export function notesOf(node: Node, usual: ReadonlyMap<string, string>): readonly Note[] {
  const notes: Note[] = [];
  const warn = (text: string): void => void notes.push({ kind: "warn", text });
  const { disk, ffmpeg, score } = node;
  for (const reason of node.not_ready) warn(reason);
  if (score > 0) warn(`${percent(score)} of its last jobs failed by its fault`);
  if (disk && (disk.free_bytes < LOW_DISK_BYTES || disk.free_bytes < disk.total_bytes * LOW_DISK_SHARE))
    warn(`Little disk: ${bytes(disk.free_bytes)} free`);
  const common = usual.get(node.pool);
  if (ffmpeg !== null && common !== undefined && ffmpeg !== common)
    warn(`Other nodes of its pool have ffmpeg ${common}: a video in chunks needs the same version`);
  if (node.spot) notes.push({ kind: "info", text: "Its machine may be taken away at any time" });
  return notes;
}

/** Notes that need the details of a node. */
export function securityNotes({ capabilities }: Pick<NodeDetails, "capabilities">): readonly Note[] {
  const { isolation } = capabilities ?? {};
  const notes: Note[] = [];
  if (isolation && isolation.level !== "full")
    notes.push({ kind: "warn", text: `Its sandbox lacks ${isolation.missing.join(", ") || "everything"}` });
  return notes;
}

export type NodeFilter = { readonly q: string; readonly states: readonly Node["state"][] };

/** True if the node's data contains all words of the text. */
export function matches(node: Node, { q, states }: NodeFilter): boolean {
  if (states.length > 0 && !states.includes(node.state)) return false;
  const { id, pool, labels, host, ffmpeg, hardware, version } = node;
  const text = [id, pool, ...labels, host, ffmpeg, hardware, version].join("\n").toLowerCase();
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

type Demand = Autoscale["encode"];

/** Estimated seconds until the present slots have done the waiting tasks; null if unknown. */
export function backlogSeconds({ waiting, running, free, mean_task_seconds }: Demand): number | null {
  const slots = running + free;
  return waiting === 0 ? 0 : slots === 0 || mean_task_seconds === 0 ? null : (waiting * mean_task_seconds) / slots;
}
