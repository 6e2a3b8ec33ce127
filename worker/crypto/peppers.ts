// Peppers: the operator's keys for digests of credentials. There are several while the operator changes the pepper.
import { hex } from "./bytes.ts";

/** The newest pepper comes first: it makes the digests of new credentials. */
export type Peppers = readonly [Pepper, ...Pepper[]];
/** `name` is the part before the colon, for the operator's lists; the key of the digest is all of `text`. */
export type Pepper = { readonly name: string | null; readonly text: string };

const MIN_CHARS = 8;

/**
 * Parses peppers, separated by commas. A name and a colon may precede each pepper. Throws an error for the operator.
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

/** The digest of a new credential, and the pepper's name. */
export const digestNew = async (
  key: string,
  [newest]: Peppers,
): Promise<{ digest: string; pepper: string | null }> => ({
  digest: await digestOf(key, newest),
  pepper: newest.name,
});

/** The digests of a key under each pepper, the newest pepper first. */
export const digestsOf = async (key: string, [newest, ...others]: Peppers): Promise<[string, ...string[]]> => [
  await digestOf(key, newest),
  ...(await Promise.all(others.map((pepper) => digestOf(key, pepper)))),
];
