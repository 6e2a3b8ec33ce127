import { AppError } from "#shared/errors.ts";

/** Reads a body to its end. Throws AppError(body_too_large) beyond the limit. `Content-Length` is not trusted. */
export async function readLimited(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of body ?? []) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > maxBytes) throw new AppError("body_too_large", `The body is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
