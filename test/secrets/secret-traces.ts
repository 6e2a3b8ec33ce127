// Searches for secrets in all data that a system wrote or sent, in every likely encoding.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { randomText } from "#shared/ids.ts";

/** Secrets by description. */
export type Secrets = Readonly<Record<string, string>>;

const LENGTH = 40;
/** A secret that no text contains by chance. */
export const newSecret = (): string => randomText(LENGTH, (count) => crypto.getRandomValues(new Uint8Array(count)));

/** Places of secrets: `<what> in <where>, as <form>`. */
export function tracesIn(where: string, bytes: Uint8Array | string, secrets: Secrets): string[] {
  const haystack = Buffer.from(bytes);
  return Object.entries(secrets).flatMap(([what, secret]) =>
    formsOf(secret).flatMap(([form, needle]) => (haystack.includes(needle) ? [`${what} in ${where}, as ${form}`] : [])),
  );
}

/** Searches all files below a folder, except files at these paths relative to it. */
export function tracesBelow(folder: string, secrets: Secrets, except: readonly string[]): string[] {
  return filesBelow(folder)
    .filter((path) => !except.includes(path))
    .flatMap((path) => tracesIn(path, readFileSync(join(folder, path)), secrets));
}

export const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => statSync(join(folder, path)).isFile());

/**
 * Encodings of both halves: half of a secret is already too much. If a database splits a secret over two pages, at
 * least one half is still complete.
 */
function formsOf(secret: string): [string, Buffer][] {
  const middle = Math.ceil(secret.length / 2);
  return [secret.slice(0, middle), secret.slice(middle)].flatMap((half): [string, Buffer][] => {
    const bytes = Buffer.from(half);
    return [
      ["text", bytes],
      ["UTF-16", Buffer.from(half, "utf16le")],
      ["hexadecimal", Buffer.from(bytes.toString("hex"))],
      ...(encodeURIComponent(half) === half
        ? []
        : [["percent-encoding", Buffer.from(encodeURIComponent(half))] satisfies [string, Buffer]]),
      ...[0, 1, 2].map((shift): [string, Buffer] => ["Base64", Buffer.from(base64At(bytes, shift))]),
      // A key in hexadecimal may also be stored as its bytes.
      ...(/^[0-9a-f]+$/.test(secret) ? [["its bytes", Buffer.from(half, "hex")] satisfies [string, Buffer]] : []),
    ];
  });
}

/**
 * Base64 of bytes at an offset of `shift` from a multiple of three, without the characters that depend on the
 * neighboring bytes.
 */
function base64At(bytes: Buffer, shift: number): string {
  const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString("base64")
    .replace(/=+$/, "");
  return encoded.slice(shift === 0 ? 0 : 4, -3);
}
