// Ctrl-C and the other wishes that this process end.

/** Signals closer together than this are one wish: terminal, npm and bootstrap.mjs each pass on the same Ctrl-C. */
const ONE_WISH_MS = 1000;

export type Wishes = {
  /** Aborted at the first wish. */
  readonly first: AbortSignal;
  /** Aborted when somebody asks again because it takes long. */
  readonly second: AbortSignal;
};

export function listenForTheEnd(): Wishes {
  const first = new AbortController();
  const second = new AbortController();
  let since = 0;
  const wish = (): void => {
    if (!first.signal.aborted) since = Date.now();
    else if (Date.now() - since > ONE_WISH_MS) second.abort();
    first.abort(new Stopped());
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, wish);
  return { first: first.signal, second: second.signal };
}

/** Not a failure: somebody asked for the end. */
export class Stopped extends Error {
  override readonly name = "Stopped";
  constructor() {
    super("Stopped.");
  }
}
