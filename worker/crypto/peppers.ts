// Peppers: the operator's keys for digests of credentials. There are several while the pepper is being changed.
import { hex } from "./bytes.ts";

/** The newest first: new digests are made with it. */
export type Peppers = readonly [Pepper, ...Pepper[]];
/** `name` is the part before the colon, for the operator's lists; the key of the digest is all of `text`. */
export type Pepper = { readonly name: string | null; readonly text: string };

const MIN_CHARS = 8;

/**
 * Parses a pepper, or several separated by commas, each with a name before a colon or without. Throws an error for the
 * operator.
 */
export function parsePeppers(list: string): Peppers {
  const [first, ...others] = list.split(",").map((entry): Pepper => {
    const text = entry.trim();
    if (text.length < MIN_CHARS) {
      throw new Error(
        `KEY_PEPPER: each of the peppers, separated by commas, must have at least ${MIN_CHARS} characters`,
      );
    }
    return { name: /^(\w{1,16}):/.exec(text)?.[1] ?? null, text };
  });
  if (!first) throw new Error("KEY_PEPPER is empty");
  return [first, ...others];
}

/** HMAC-SHA-256 of a key under a pepper, in hex. Keys have full entropy, so no slow hash is needed. */
async function digestOf(key: string, { text }: Pepper): Promise<string> {
  const encoder = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const secret = await crypto.subtle.importKey("raw", encoder.encode(text), algorithm, false, ["sign"]);
  return hex(await crypto.subtle.sign("HMAC", secret, encoder.encode(key)));
}

/** A new credential's digest, and the pepper's name. */
export const digestNew = async (
  key: string,
  [newest]: Peppers,
): Promise<{ digest: string; pepper: string | null }> => ({
  digest: await digestOf(key, newest),
  pepper: newest.name,
});

/** A key's digest under each pepper, the newest first. */
export const digestsOf = async (key: string, [newest, ...others]: Peppers): Promise<[string, ...string[]]> => [
  await digestOf(key, newest),
  ...(await Promise.all(others.map((pepper) => digestOf(key, pepper)))),
];
