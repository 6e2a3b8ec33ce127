// The commands that simulated nodes report: as many, as long and as varied as those from real nodes.
import type { CommandReport } from "#shared/protocol/commands.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";
import type { Workload } from "./work.ts";

/**
 * The arguments of a chunk of a 1080p output (shared/plan/tasks/plan-chunk.ts, November 2026): 2.2 kB in each of two
 * runs.
 */
const ARGUMENTS = Array.from({ length: 120 }, (_, at) => `-an_option_${at}`);

/** The commands that ran for a task. */
export function ranCommands(
  { task, kind }: Assignment,
  { encodeMs, chunkMs }: Workload,
): { commands?: CommandReport[] } {
  if (kind === "inspect") return {};
  const from = task.kind === "chunk" ? (task.chunk.from?.frameUs ?? 0) / 1e6 : 0;
  const argv = ["-ss", String(from), "-i", "source", `[0:0]trim=start=${from},format=yuv420p[v0]`, ...ARGUMENTS];
  const run = { argv, afterMs: 900, tookMs: Math.round(kind === "encode" ? encodeMs : chunkMs), exitCode: 0 };
  return { commands: kind === "chunk" ? [run, { ...run, argv: [...argv, "track.mp4"] }] : [run] };
}
