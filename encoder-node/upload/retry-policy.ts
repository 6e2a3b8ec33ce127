// How often and how long uploads are retried.
import type { BackoffPolicy } from "#shared/backoff.ts";

/** How often and after which delay a part is sent again, and how long one attempt may take. */
export type RetryPolicy = {
  readonly retries: number;
  readonly backoff: BackoffPolicy;
  /** The time limit of one attempt: a base, and more for each KiB. */
  readonly limit: { readonly baseMs: number; readonly msPerKib: number };
};
/**
 * A storage that is too slow would occupy its slot forever. 1 MiB a minute is also the minimum rate of a source
 * (source/fetch/source-timeouts.ts). The base is for slow responses and small files.
 */
const LIMIT: RetryPolicy["limit"] = { baseMs: 10 * 60_000, msPerKib: 60_000 / 1024 };
/** About five minutes: an upload holds no encoder, and waiting costs less than encoding the outputs again. */
export const RETRIES: RetryPolicy = { retries: 24, backoff: { firstMs: 500, maxMs: 30_000 }, limit: LIMIT };
/** A few seconds: the receiver of a form may have it already, and gets the whole file with each attempt. */
export const FORM_RETRIES: RetryPolicy = { ...RETRIES, retries: 2 };
/**
 * A host that refuses connections or does not resolve is a wrong `storage` far more often than a host that restarts.
 * The upload gives up after 13 s at most, 6 s on average.
 */
export const NO_HOST_RETRIES: Pick<RetryPolicy, "retries" | "backoff"> = {
  retries: 5,
  backoff: { firstMs: 500, maxMs: 5000 },
};
