// The process that runs the Worker behind the front server: workerd, by Miniflare or as an instance of a cluster.
import { createLogger } from "#shared/log.ts";

export type Runtime = {
  /** Scheme, host and port of the Worker. It answers only to requests with the secret of the front server. */
  readonly origin: string;
  /** Ends the process. An instance of a cluster first hands its objects to the others. */
  stop(): Promise<void>;
};

export const log = createLogger(
  { write: (line) => console.log(line), now: Date.now, level: "info" },
  { part: "local" },
);

/** Prints the Worker's JSON lines as they are, and other output of the runtime as a JSON line. */
export function writeWorkerLine(level: string, message: string): void {
  if (message.startsWith("{")) console.log(message);
  else log[level === "error" || level === "warn" ? level : "info"]("workerd output", { text: message.trimEnd() });
}
