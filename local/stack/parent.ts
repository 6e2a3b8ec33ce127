// A process that was started by another one leaves when that one is gone, also when it was killed with SIGKILL.

/** Names, in a child's environment, the process that started it. */
export const PARENT_VARIABLE = "COPRA_PARENT_PID";

const CHECK_MS = 1000;

/**
 * Calls `act` once when the process that started this one, by way of `PARENT_VARIABLE`, is gone. The system gives an
 * orphan a new parent, which no pid can be mistaken for; and unlike a pipe this works for programs that we did not write.
 */
export function whenParentIsGone(act: () => void): void {
  const parent = Number(process.env[PARENT_VARIABLE]);
  if (!parent) return;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    act();
  }, CHECK_MS);
  timer.unref();
}
