// The body of a part on its way to the storage: exactly as long as it must be, and what its digest states.
import { AppError } from "#shared/errors.ts";

/** What a body must be, by a header of its request. */
export type ExpectedDigest = { readonly algorithm: "MD5" | "SHA-256"; readonly bytes: Uint8Array; readonly by: string };

const NOT_VALID: Readonly<Record<string, string>> = {
  "content-md5": "must be the MD5 of the part in Base64",
  "content-digest": "must be `sha-256=:` and the SHA-256 of the part in Base64 and `:` (RFC 9530)",
};

/** The digest that a request states for its body; null if none. Throws AppError(upload_part_not_valid). */
export function expectedDigest(headers: Headers): ExpectedDigest | null {
  const sha256 = headers.get("content-digest");
  if (sha256 !== null) {
    const text = /(?:^|,)\s*sha-256=:([^:]*):/.exec(sha256)?.[1] ?? "";
    return { algorithm: "SHA-256", bytes: decoded(text, 32, "content-digest"), by: "content-digest" };
  }
  const md5 = headers.get("content-md5");
  return md5 === null ? null : { algorithm: "MD5", bytes: decoded(md5.trim(), 16, "content-md5"), by: "content-md5" };
}

function decoded(base64: string, length: number, header: string): Uint8Array {
  try {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    if (bytes.length === length) return bytes;
  } catch {
    // Not Base64.
  }
  throw new AppError("upload_part_not_valid", `The header \`${header}\` ${NOT_VALID[header]}`);
}

export type CheckedBody = {
  readonly stream: ReadableStream;
  /** Why the body ended early: the client went away, it has another length, or another digest; null: it did not. */
  readonly failure: () => unknown;
};

/**
 * A stream of exactly `sizeBytes`, which fails if the body has another length or digest: then nothing is stored,
 * because the last chunk waits for the digest. Only one chunk is in memory.
 */
export function checkedBody(body: ReadableStream, sizeBytes: number, digest: ExpectedDigest | null): CheckedBody {
  const { readable, writable } = new FixedLengthStream(sizeBytes);
  let failure: unknown = null;
  const sent = digest === null ? body.pipeTo(writable) : sendChecked(body, writable, digest);
  sent.catch((error: unknown) => {
    failure = error;
  });
  return { stream: readable, failure: () => failure };
}

async function sendChecked(body: ReadableStream, writable: WritableStream, expected: ExpectedDigest): Promise<void> {
  const writer = writable.getWriter();
  const digest = new crypto.DigestStream(expected.algorithm);
  const hasher = digest.getWriter();
  try {
    let last: Uint8Array | null = null;
    for await (const chunk of body) {
      if (last !== null) await writer.write(last);
      await hasher.write(chunk);
      last = chunk;
    }
    await hasher.close();
    requireSame(new Uint8Array(await digest.digest), expected);
    if (last !== null) await writer.write(last);
    await writer.close();
  } catch (error) {
    // Whoever reads the stream gets the error.
    void writer.abort(error).catch(() => undefined);
    throw error;
  }
}

function requireSame(actual: Uint8Array, { bytes, by }: ExpectedDigest): void {
  if (actual.length === bytes.length && actual.every((byte, at) => byte === bytes[at])) return;
  throw new AppError("upload_part_not_valid", `The part is not what its header \`${by}\` states: send it again`);
}
