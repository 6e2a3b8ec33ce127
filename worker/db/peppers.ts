// What credentials are digested with. The list may be longer than one while the pepper is being changed.
import { hex } from "../hex.ts";

/** The newest first; only that one is used for what is stored. */
export type Peppers = readonly [Pepper, ...Pepper[]];
/** `name` is what comes before the colon, for the operator's lists; all of `text` is the key of the digest. */
export type Pepper = { readonly name: string | null; readonly text: string };

const MIN_CHARS = 8;

/** Parses a pepper, or several separated by commas, each with a name before a colon or without. Throws for the operator. */
export function parsePeppers(list: string): Peppers {
  const [first, ...others] = list.split(",").map((entry): Pepper => {
    const text = entry.trim();
    if (text.length < MIN_CHARS) {
      throw new Error(`KEY_PEPPER must have at least ${MIN_CHARS} characters, each one of a list separated by commas`);
    }
    return { name: /^(\w{1,16}):/.exec(text)?.[1] ?? null, text };
  });
  if (!first) throw new Error("KEY_PEPPER is empty");
  return [first, ...others];
}

/** HMAC-SHA-256 of a key under a pepper, in hex. Keys have full entropy, so that no slow hash is needed. */
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
