// Stops processes for a short time, so that their files do not change meanwhile.
import { spawn } from "node:child_process";
import { runningProcesses } from "./running-processes.ts";

/** The processes continue after this time even if this process was killed. Nodes wait, and give up after 45 s. */
const LONGEST_S = 30;

/**
 * Stops the processes and their descendants while `work` runs. `work` must not wait for them. Throws if a process of
 * `pids` does not exist, or if the processes were released before the work was done.
 */
export function whileFrozen<Result>(pids: readonly number[], work: () => Result): Result {
  const all = pids.flatMap((pid) => [pid, ...descendantsOf(pid)]);
  if (all.length === 0) return work();
  const release = spawn("sh", ["-c", `sleep ${LONGEST_S}; kill -CONT ${all.join(" ")}`], {
    detached: true,
    stdio: "ignore",
  });
  const startedAt = performance.now();
  try {
    for (const pid of pids) process.kill(pid, "SIGSTOP");
    for (const pid of all) signalIfAlive(pid, "SIGSTOP");
    const result = work();
    if (performance.now() - startedAt > LONGEST_S * 1000) {
      throw new Error(`The files could not be copied within ${LONGEST_S} s. Stop the service, and try again.`);
    }
    return result;
  } finally {
    for (const pid of all) signalIfAlive(pid, "SIGCONT");
    if (release.pid !== undefined) signalIfAlive(-release.pid, "SIGKILL");
  }
}

/** Signals a process. A descendant may have ended since the list was made, and the release after its time. */
function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended.
  }
}

/** The running descendants of a process, in no particular order. */
function descendantsOf(pid: number): number[] {
  const running = runningProcesses();
  const pids = new Set([pid]);
  // A process may be listed before its parent.
  for (let before = 0; before < pids.size; ) {
    before = pids.size;
    for (const [child, { parent }] of running) if (pids.has(parent)) pids.add(child);
  }
  return [...pids].filter((descendant) => descendant !== pid);
}
