// Identifiers: the only place that makes them. Callers hand in random bytes, so that pure code stays pure.

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** 14 characters of `[A-Za-z0-9]`, about 83 random bits (api-v2 §1). */
export type JobId = Branded<"JobId">;
/** Names one grant of one task: `<job>.<task>.<attempt>`. Anyone may know it; the lease token is the secret. */
export type LeaseId = Branded<"LeaseId">;

export type RandomBytes = (count: number) => Uint8Array;

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/** Bytes from here on would make the first letters of the alphabet likelier than the others. */
const FAIR_BYTE_LIMIT = 256 - (256 % ALPHABET.length);

/** `length` characters of `[A-Za-z0-9]`, each equally likely. */
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
/** A lease token, node session and the like: 160 bits and more. */
export const newToken = (random: RandomBytes): string => randomText(28, random);
/** A client's API key; the prefix is what clients of the API know (api-v2 §1). */
export const newApiKey = (random: RandomBytes): string => `k-${randomText(43, random)}`;
export const newNodeToken = (random: RandomBytes): string => `n-${randomText(43, random)}`;

const API_KEY = /^k-[A-Za-z0-9]{43}$/;
const NODE_TOKEN = /^n-[A-Za-z0-9]{43}$/;
/** Whether a text could be an API key, of which there are 62^43, about 2^256; likewise a node token. */
export const isApiKey = (text: string): boolean => API_KEY.test(text);
export const isNodeToken = (text: string): boolean => NODE_TOKEN.test(text);

const JOB_ID = /^[A-Za-z0-9]{14}$/;
export const isJobId = (text: string): text is JobId => JOB_ID.test(text);

export const leaseId = (job: JobId, task: string, attempt: number): LeaseId => `${job}.${task}.${attempt}` as LeaseId;

const LEASE_ID = /^([A-Za-z0-9]{14})\.([a-z0-9-]{1,40})\.(\d{1,4})$/;

/** The parts of a lease id, or null when the text is none. */
export function parseLeaseId(text: string): { job: JobId; task: string; attempt: number } | null {
  const match = LEASE_ID.exec(text);
  if (!match?.[1] || !match[2] || !match[3]) return null;
  return { job: match[1] as JobId, task: match[2], attempt: Number(match[3]) };
}
