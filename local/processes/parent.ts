// Detects that the parent process has ended, even by SIGKILL.

/** The environment variable that holds the pid of the process that started a child. */
export const PARENT_VARIABLE = "COPRA_PARENT_PID";

const CHECK_MS = 1000;

/**
 * Calls `act` once when the process in `PARENT_VARIABLE` is no longer the parent of this process. The system gives an
 * orphan a new parent, so a reused pid is no problem. Unlike a pipe, this also works for third-party programs.
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
