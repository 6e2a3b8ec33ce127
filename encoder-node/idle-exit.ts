// Ends a node that has had no work for a while, so that a fleet shrinks when its queue is empty.

const CHECK_EVERY_MS = 1000;

export type IdleExit = {
  /** Time without work after which the node ends. */
  readonly afterMs: number;
  /**
   * True if the node could have been assigned work, and had no work. A node without a connection is not idle: otherwise
   * a control plane that is down would end the whole fleet.
   */
  readonly isIdle: () => boolean;
  readonly exit: () => void;
};

/** Calls `exit` once the node has been idle for `afterMs` in a row. Returns a function that ends the watch. */
export function exitWhenIdle({ afterMs, isIdle, exit }: IdleExit): () => void {
  let since: number | null = null;
  const timer = setInterval(
    () => {
      const now = Date.now();
      since = isIdle() ? (since ?? now) : null;
      if (since === null || now - since < afterMs) return;
      clearInterval(timer);
      exit();
    },
    Math.min(CHECK_EVERY_MS, afterMs / 2),
  );
  timer.unref();
  return () => clearInterval(timer);
}
