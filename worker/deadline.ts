// A deadline for calls of objects and of the database: a callee that hangs must not hang its caller.

/** Longer than any call takes: the slowest opens secrets and writes a few entries. */
export const CALL_LIMIT_MS = 10_000;

/** A call did not end in time. It may have been executed. Callers may try again, as after errors of the platform. */
export class DeadlineExceeded extends Error {
  override readonly name = "DeadlineExceeded";
  readonly retryable = true;
}

/** The result of a call, or DeadlineExceeded after `limitMs`. */
export async function withDeadline<Value>(
  name: string,
  call: PromiseLike<Value>,
  limitMs: number = CALL_LIMIT_MS,
): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const end = () => reject(new DeadlineExceeded(`${name} did not end within ${limitMs} ms`));
  const timer = setTimeout(end, limitMs);
  try {
    return await Promise.race([call, late]);
  } finally {
    // A pending timer would keep an object in memory.
    clearTimeout(timer);
  }
}
