// Searches for the rate factors of requested VMAFs, as clients see them.
import type { TargetMetadata } from "#shared/job/quality-target.ts";
import type { TargetReport } from "#shared/protocol/target.ts";
import type { JobState } from "../state/job-state.ts";

/** Searches for each video of an output, or for each of its chunks; empty if no VMAF was requested. */
export function targetsOf({ outputs, chunks, chunkResults, ultrafast }: JobState, index: number): TargetMetadata[] {
  const whole = outputs[index]?.targets;
  if (whole) return whole.map((target) => targetMetadata(target, null));
  if (!chunks?.outputs.includes(index) || ultrafast?.reason !== null) return [];
  return Object.entries(chunkResults).flatMap(([chunk, { targets = [] }]) =>
    targets.flatMap(({ output, target }) => (output === index ? targetMetadata(target, Number(chunk)) : [])),
  );
}

/** A report as clients see it. `chunk` is null for a video that was not encoded in chunks. */
function targetMetadata(
  { vmaf, size, rateFactor, stopped, measured, samples, sampledMs, tried }: TargetReport,
  chunk: number | null,
): TargetMetadata {
  return {
    vmaf,
    size,
    ...(chunk === null ? {} : { chunk }),
    rate_factor: rateFactor,
    ended: stopped,
    samples: measured && {
      number: samples,
      seconds: sampledMs / 1000,
      frames: measured.frames,
      mean: measured.mean,
      harmonic_mean: measured.harmonicMean,
      percentile_1: measured.percentile1,
      kbps: Math.round(measured.kbps),
    },
    tried: tried.map((probe) => ({ rate_factor: probe.rateFactor, score: probe.score, kbps: Math.round(probe.kbps) })),
  };
}
