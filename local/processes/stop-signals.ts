// Ctrl-C and the other signals that ask this process to stop.

/** Closer signals count as a single signal: terminal, npm and bootstrap.mjs each pass on the same Ctrl-C. */
const SAME_REQUEST_MS = 1000;

export type StopSignals = {
  /** Aborted at the first signal. */
  readonly first: AbortSignal;
  /** Aborted at the second signal, with which somebody asks to hurry. */
  readonly second: AbortSignal;
};

export function listenForStopSignals(): StopSignals {
  const first = new AbortController();
  const second = new AbortController();
  let firstAt = 0;
  const onSignal = (): void => {
    if (!first.signal.aborted) firstAt = Date.now();
    else if (Date.now() - firstAt > SAME_REQUEST_MS) second.abort();
    first.abort(new Stopped());
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, onSignal);
  return { first: first.signal, second: second.signal };
}

/** Thrown after a request to stop this process; not a failure. */
export class Stopped extends Error {
  override readonly name = "Stopped";
  constructor() {
    super("Stopped.");
  }
}
