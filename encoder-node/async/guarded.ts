// Handlers of events and timers that end no process.

/** Wraps the handler of an event. `failed` gets each error that the handler throws; an uncaught error ends the node. */
export function guarded<Arguments extends unknown[]>(
  handler: (...given: Arguments) => void,
  failed: (error: unknown) => void,
): (...given: Arguments) => void {
  return (...values) => {
    try {
      handler(...values);
    } catch (error) {
      failed(error);
    }
  };
}
