// Creates all identifiers. Callers provide random bytes, so that this code stays pure.

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** 14 characters of `[A-Za-z0-9]`, about 83 random bits (api-v2 §1). */
export type JobId = Branded<"JobId">;
/** Identifies an attempt of a task: `<job>.<task>.<attempt>`. The id is not secret; the lease token is. */
export type LeaseId = Branded<"LeaseId">;

export type RandomBytes = (count: number) => Uint8Array;

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/** Larger bytes would make the first letters of the alphabet more likely than the others. */
const FAIR_BYTE_LIMIT = 256 - (256 % ALPHABET.length);

/** Returns `length` characters of `[A-Za-z0-9]`, each equally likely. */
export function randomText(length: number, random: RandomBytes): string {
  let text = "";
  while (text.length < length) {
    for (const byte of random(length - text.length)) {
      if (byte < FAIR_BYTE_LIMIT) text += ALPHABET[byte % ALPHABET.length];
    }
  }
  return text;
}

export const newJobId = (random: RandomBytes): JobId => randomText(14, random) as JobId;
/** Creates a lease token, node session and so on: at least 160 bits. */
export const newToken = (random: RandomBytes): string => randomText(28, random);
/** Creates an API key with the prefix that clients know (api-v2 §1). */
export const newApiKey = (random: RandomBytes): string => `k-${randomText(43, random)}`;
export const newNodeToken = (random: RandomBytes): string => `n-${randomText(43, random)}`;

const API_KEY = /^k-[A-Za-z0-9]{43}$/;
const NODE_TOKEN = /^n-[A-Za-z0-9]{43}$/;
/** True if text has the form of an API key (62^43, about 2^256 possible keys) or of a node token. */
export const isApiKey = (text: string): boolean => API_KEY.test(text);
export const isNodeToken = (text: string): boolean => NODE_TOKEN.test(text);

const JOB_ID = /^[A-Za-z0-9]{14}$/;
export const isJobId = (text: string): text is JobId => JOB_ID.test(text);

export const leaseId = (job: JobId, task: string, attempt: number): LeaseId => `${job}.${task}.${attempt}` as LeaseId;

const LEASE_ID = /^([A-Za-z0-9]{14})\.([a-z0-9-]{1,40})\.(\d{1,4})$/;

/**
 * Returns the components of a lease id; null if the text is not a lease id. The kind of the task
 * `chunk-12-r1-speculative` is `chunk`. Only this function parses lease ids: code with an id needs no further fields
 * for its components.
 */
export function parseLeaseId(text: string): { job: JobId; task: string; kind: string; attempt: number } | null {
  const [, job, task, attempt] = LEASE_ID.exec(text) ?? [];
  if (!job || !task || !attempt) return null;
  return { job: job as JobId, task, kind: task.replace(/-.*/, ""), attempt: Number(attempt) };
}

/** Task that joins chunks while other chunks are encoded, in each round of a job. */
const EARLY_JOIN = /^join(-r\d+)?-early$/;

/**
 * True if the task of a lease waits for other tasks of its job, without a slot. It does not count for limits of its
 * account or node, because the other tasks could then never start.
 */
export const waitsForOthers = (lease: string): boolean => EARLY_JOIN.test(parseLeaseId(lease)?.task ?? "");
