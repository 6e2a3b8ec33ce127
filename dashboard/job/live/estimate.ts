// The speed of a job, and its probable end. Pure.
import type { Task } from "../../../client/index.ts";

export type Rate = {
  /** Frames per second of all nodes now. */
  readonly fps: number;
  /** Seconds of the input per second, over all nodes. */
  readonly speed: number;
  /** Nodes that work on the job now. */
  readonly nodes: number;
  /** Tasks that run now. */
  readonly running: number;
};

export function rateOf(tasks: readonly Task[]): Rate {
  const running = tasks.filter(({ status }) => status === "running");
  const encoding = running.filter(({ stage }) => stage === "encoding");
  return {
    fps: sum(encoding.map(({ fps }) => fps ?? 0)),
    speed: sum(encoding.map(({ speed }) => speed ?? 0)),
    nodes: new Set(running.map(({ node }) => node)).size,
    running: running.length,
  };
}

/** A point of a job's progress; `fraction` is 0 to 1. */
export type Sample = { readonly atMs: number; readonly fraction: number };

/** The estimate uses the progress of this time. */
const WINDOW_MS = 60_000;
/** A shorter time is too little for an estimate. */
const MIN_WINDOW_MS = 3000;
const MIN_FRACTION = 0.01;

/** Adds a sample. Drops old samples, and keeps equal samples once. */
export function withSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  if (samples.at(-1)?.fraction === sample.fraction) return samples;
  // The progress of a restarted job starts from 0.
  const current = (samples.at(-1)?.fraction ?? 0) > sample.fraction ? [] : samples;
  const recent = current.filter(({ atMs }, at) => atMs >= sample.atMs - WINDOW_MS || at >= current.length - 2);
  return [...recent, sample];
}

/**
 * The end of the job at the speed of the last minute, in ms since 1970. Until a minute has passed, the speed since the
 * job's first task counts. null: too early for an estimate.
 */
export function endEstimate(samples: readonly Sample[], startedMs: number | null, nowMs: number): number | null {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || last.fraction < MIN_FRACTION) return null;
  const isLong = last.atMs - first.atMs >= MIN_WINDOW_MS && last.fraction - first.fraction >= MIN_FRACTION;
  const from = isLong ? first : startedMs === null ? null : { atMs: startedMs, fraction: 0 };
  if (!from || last.atMs - from.atMs < MIN_WINDOW_MS) return null;
  const perMs = (last.fraction - from.fraction) / (last.atMs - from.atMs);
  return Math.max(nowMs, last.atMs + (1 - last.fraction) / perMs);
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
