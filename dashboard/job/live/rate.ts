// The speed of a job. Pure.
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

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
