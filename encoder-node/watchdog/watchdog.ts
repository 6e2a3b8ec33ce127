// Ends the node's process when its main thread hangs, so that its supervisor starts it again. Without this, a hanging
// node keeps its connection and its leases.
import { Worker } from "node:worker_threads";
import { type Logger, messageOf } from "#shared/log.ts";
import { programBeside } from "../own-program.ts";

export type WatchdogSetup = {
  /** The main thread adds 1 every `beatMs`. */
  readonly beats: Int32Array<SharedArrayBuffer>;
  readonly beatMs: number;
  /** The thread ends the process after this number of its own ticks of `beatMs` without a beat. */
  readonly limitTicks: number;
  /** The control plane, and the folder for reports that it has not accepted. */
  readonly url: string;
  readonly token: string;
  readonly spool: string;
};

const THREAD = programBeside(import.meta.url, "watchdog-thread");
const TICKS = 30;

type Watched = Pick<WatchdogSetup, "url" | "token" | "spool"> & {
  /** Longest time without a response of the main thread, in ms. */
  readonly limitMs: number;
};

/**
 * Watches this thread from another thread until the process ends. It counts ticks, not time: a suspended machine or
 * process does not look like a hang.
 */
export function startWatchdog({ limitMs, ...control }: Watched, log: Logger): void {
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const beatMs = limitMs / TICKS;
  const workerData: WatchdogSetup = { ...control, beats, beatMs, limitTicks: TICKS };
  // The modules of `--import` are for the main thread.
  const thread = new Worker(THREAD, { workerData, execArgv: [] });
  thread.on("error", (error) => log.error("watchdog failed", { error: messageOf(error) }));
  thread.unref();
  setInterval(() => Atomics.add(beats, 0, 1), beatMs).unref();
}
