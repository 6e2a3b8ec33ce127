// Passes the body of a part to the storage, and checks its length and its digest.
import { AppError } from "#shared/errors.ts";

/** The expected digest of a body; `by` is the header that states it. */
export type ExpectedDigest = {
  readonly algorithm: "MD5" | "SHA-1" | "SHA-256";
  readonly bytes: Uint8Array;
  readonly by: string;
};

const NOT_VALID: Readonly<Record<string, string>> = {
  "content-md5": "must be the MD5 of the part in Base64",
  "content-digest": "must be `sha-256=:` and the SHA-256 of the part in Base64 and `:` (RFC 9530)",
  "upload-checksum": "must be sha256, sha1 or md5, a space, and the digest of the part in Base64",
};

/** Algorithms of `Upload-Checksum`, with the length of their digests (tus 1.0.0, Checksum). */
export const TUS_CHECKSUMS = { sha256: ["SHA-256", 32], sha1: ["SHA-1", 20], md5: ["MD5", 16] } as const;

/** The digest of the header `Upload-Checksum`; null without this header. Throws AppError(upload_part_not_valid). */
export function tusChecksum(headers: Headers): ExpectedDigest | null {
  const by = "upload-checksum";
  const [name, text = ""] = headers.get(by)?.trim().split(" ") ?? [];
  if (name === undefined) return null;
  const known = Object.entries(TUS_CHECKSUMS).find(([algorithm]) => algorithm === name.replace("-", ""));
  if (!known) throw new AppError("upload_part_not_valid", `The header \`${by}\` ${NOT_VALID[by]}`);
  const [algorithm, length] = known[1];
  return { algorithm, bytes: decoded(text, length, by), by };
}

/** The digest that a request states for its body; null if it states none. Throws AppError(upload_part_not_valid). */
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
    // The text is not Base64.
  }
  throw new AppError("upload_part_not_valid", `The header \`${header}\` ${NOT_VALID[header]}`);
}

export type CheckedBody = {
  readonly stream: ReadableStream;
  /** Reason why the body ended early: the client went away, or the length or the digest differs; null: no failure. */
  readonly failure: () => unknown;
};

/**
 * A stream of exactly `sizeBytes`. It fails if the body has another length or digest. Nothing is stored then, because
 * the last chunk waits for the digest. Only one chunk is in memory.
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
    // The reader of the stream gets the error.
    void writer.abort(error).catch(() => undefined);
    throw error;
  }
}

function requireSame(actual: Uint8Array, { bytes, by }: ExpectedDigest): void {
  if (actual.length === bytes.length && actual.every((byte, at) => byte === bytes[at])) return;
  const code = by === "upload-checksum" ? "upload_checksum_mismatch" : "upload_part_not_valid";
  throw new AppError(code, `The part is not what its header \`${by}\` states: send it again`);
}
