// Probes: a node inspects a source.
import type { Caller, CallOptions } from "../http/caller.ts";
import type { NewProbe, Probe } from "../types/api.ts";

/** Seconds that a response waits for the end of a probe. The service allows 30 s. */
const WAIT_S = 20;

export class Probes {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Starts a probe. The response waits for its end for `waitSeconds`, at most 30. */
  create(request: NewProbe, { waitSeconds = 0, ...options }: WaitOptions = {}): Promise<Probe> {
    const query = { wait: waitSeconds };
    // Safe to repeat: a second probe does no harm.
    return this.#caller.json("/v2/probes", { ...options, method: "POST", json: request, query, repeatable: true });
  }

  get(id: string, { waitSeconds = 0, ...options }: WaitOptions = {}): Promise<Probe> {
    return this.#caller.json(`/v2/probes/${encodeURIComponent(id)}`, { ...options, query: { wait: waitSeconds } });
  }

  /** Runs a probe to its end. It is `completed` with `metadata`, or `failed` with `error`. */
  async run(request: NewProbe, options?: CallOptions): Promise<Probe> {
    let probe = await this.create(request, { ...options, waitSeconds: WAIT_S });
    while (probe.completed_at === null) probe = await this.get(probe.id, { ...options, waitSeconds: WAIT_S });
    return probe;
  }
}

export type WaitOptions = CallOptions & { readonly waitSeconds?: number | undefined };
