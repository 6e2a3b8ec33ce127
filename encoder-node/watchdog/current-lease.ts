// The lease for which the running code works. It survives all awaits and callbacks of that code.
import { AsyncLocalStorage } from "node:async_hooks";
import type { LeaseProof } from "#shared/protocol/leases.ts";

const current = new AsyncLocalStorage<LeaseProof>();

/** Runs work for a lease. */
export const workingOn = <Result>({ lease, token }: LeaseProof, work: () => Result): Result =>
  current.run({ lease, token }, work);

/** Evaluates to the current lease as JSON, or to `null`, in the main thread. A debugger can only evaluate text. */
export const CURRENT_LEASE = "copraCurrentLease()";
Object.assign(globalThis, { copraCurrentLease: () => JSON.stringify(current.getStore() ?? null) });
