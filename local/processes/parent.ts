// Detects that the parent process is gone, also when it was killed with SIGKILL.

/** The environment variable that holds the pid of the process that started a child. */
export const PARENT_VARIABLE = "COPRA_PARENT_PID";

const CHECK_MS = 1000;

/**
 * Calls `act` once when the process named by `PARENT_VARIABLE` is no longer the parent of this one. The system gives an
 * orphan a new parent, so a reused pid cannot be mistaken for it; and unlike a pipe this also works for programs of
 * others.
 */
export function whenParentExits(act: () => void): void {
  const parent = Number(process.env[PARENT_VARIABLE]);
  if (!parent) return;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    act();
  }, CHECK_MS);
  timer.unref();
}
