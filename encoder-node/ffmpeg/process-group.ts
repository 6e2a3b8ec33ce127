// Process groups of running commands: whole groups are ended, so that nothing a command started outlives it.

const running = new Set<number>();
let sweeping = false;

/** Marks a group as running; when this process exits normally before `forgetGroup`, the group is killed. */
export function rememberGroup(leader: number): void {
  running.add(leader);
  // One listener for all: a listener per command would pass Node's leak warning on a busy machine.
  if (!sweeping) process.once("exit", killAll);
  sweeping = true;
}

function killAll(): void {
  for (const leader of running) killGroup(leader);
}

export function forgetGroup(leader: number): void {
  running.delete(leader);
}

/** Kills all processes of a group; one that has already gone is no error. */
export function killGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // ESRCH: nothing is left of the group.
  }
}
