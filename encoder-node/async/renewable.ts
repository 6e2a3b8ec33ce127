// What a storage was signed for a time: had anew, once for all who wait, when it is refused as an old signature would be.
import { untilAborted } from "./until-aborted.ts";

/** What was signed at one time. A signature that has never worked is wrong, not old; the first may have waited long. */
export type Signed<Value> = { readonly value: Value; mayBeOld: boolean };

export interface Renewable<Value> {
  /** Whoever sees a signature of it work sets `mayBeOld`. */
  latest(): Signed<Value>;
  /**
   * After `used` was refused: true once there is another to try, false when none would help. Throws what `renew` throws.
   * An abort rejects with the signal's reason, at once: whoever renews for others goes on.
   */
  renewed(used: Signed<Value>, signal: AbortSignal): Promise<boolean>;
}

export function renewable<Value>(first: Value, renew: () => Promise<Value>): Renewable<Value> {
  let latest: Signed<Value> = { value: first, mayBeOld: true };
  let renewing: Promise<void> | null = null;

  const fresh = async (): Promise<void> => {
    latest = { value: await renew(), mayBeOld: false };
  };
  return {
    latest: () => latest,
    async renewed(used, signal) {
      if (latest !== used) return true;
      if (!used.mayBeOld) return false;
      renewing ??= fresh().finally(() => {
        renewing = null;
      });
      await untilAborted(renewing, signal);
      return true;
    },
  };
}
