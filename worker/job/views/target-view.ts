// Searches for the rate factors of requested VMAFs, as clients see them.
import type { TargetMetadata } from "#shared/job/quality-target.ts";
import type { JobState } from "../state/job-state.ts";

/** Searches for each video of an output, or for each of its chunks; empty if no VMAF was requested. */
export function targetsOf({ outputs, chunks, chunkResults, ultrafast }: JobState, index: number): TargetMetadata[] {
  const whole = outputs[index]?.targets;
  if (whole) return whole;
  if (!chunks?.outputs.includes(index) || ultrafast?.reason !== null) return [];
  return Object.entries(chunkResults).flatMap(([chunk, { targets = [] }]) =>
    targets.flatMap(({ output, target }) => (output === index ? { ...target, chunk: Number(chunk) } : [])),
  );
}
