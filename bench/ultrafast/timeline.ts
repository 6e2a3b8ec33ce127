// Start and end times of a job's tasks, from `GET /v2/jobs/:id/tasks`.
import * as z from "zod";
import { basicAuth } from "../../local/stack/access.ts";

const Attempt = z.object({
  task: z.string(),
  node: z.string().nullish(),
  outcome: z.string(),
  started_at: z.string(),
  ended_at: z.string(),
});
/** Times in seconds since the start of the first attempt. */
export type TimedAttempt = {
  readonly task: string;
  readonly node: string;
  readonly outcome: string;
  readonly start: number;
  readonly end: number;
};

/** The attempts of all tasks, ordered by start. `api` ends in `/v2`. */
export async function attemptsOf(api: string, apiKey: string, jobId: string): Promise<TimedAttempt[]> {
  const response = await fetch(`${api}/jobs/${jobId}/tasks`, { headers: { authorization: basicAuth(apiKey) } });
  const { attempts } = z.object({ attempts: z.array(Attempt) }).parse(await response.json());
  const zero = Math.min(...attempts.map(({ started_at }) => Date.parse(started_at)));
  const seconds = (time: string): number => (Date.parse(time) - zero) / 1000;
  return attempts
    .map(({ task, node, outcome, started_at, ended_at }) => {
      return { task, node: node ?? "", outcome, start: seconds(started_at), end: seconds(ended_at) };
    })
    .toSorted((a, b) => a.start - b.start);
}

/** Describes each kind of task: its first start, its last end, and its shortest and longest duration. */
export function stagesOf(attempts: readonly TimedAttempt[]): string {
  const kindOf = ({ task, outcome }: TimedAttempt): string =>
    `${task.replace(/-.*/, "")}${outcome === "completed" ? "" : ` (${outcome})`}`;
  return [...new Set(attempts.map(kindOf))]
    .map((kind) => {
      const ofKind = attempts.filter((attempt) => kindOf(attempt) === kind);
      const took = ofKind.map(({ start, end }) => end - start);
      const span = `${Math.min(...ofKind.map(({ start }) => start)).toFixed(1)}–${Math.max(...ofKind.map(({ end }) => end)).toFixed(1)}`;
      return ofKind.length === 1
        ? `${kind} ${span}`
        : `${ofKind.length} × ${kind} ${span} (each ${Math.min(...took).toFixed(1)}–${Math.max(...took).toFixed(1)})`;
    })
    .join(", ");
}
