// Uploads by form: the multipart/form-data body around a file (RFC 7578), and the meaning of a receiver's error status.
// Pure.
import { AppError, type ErrorCode } from "#shared/errors.ts";
import { isTransientStatus } from "#shared/network/storage-failure.ts";
import type { UploadForm } from "#shared/protocol/uploads.ts";

/** The bytes before and after the file, and the content type with the boundary. */
export type FormFrame = { readonly head: Buffer; readonly tail: Buffer; readonly contentType: string };

/**
 * Frames a file. The plain fields precede the file, so that a streaming receiver has them first. The boundary must not
 * occur in the file or the fields: use random characters.
 */
export function formFrame({ name, fileName, contentType, fields }: UploadForm, boundary: string): FormFrame {
  const head = [
    ...fields.flatMap((field) => [
      `--${boundary}`,
      `Content-Disposition: form-data; name="${quote(field.name)}"`,
      "",
      field.value,
    ]),
    `--${boundary}`,
    `Content-Disposition: form-data; name="${quote(name)}"; filename="${quote(fileName)}"`,
    `Content-Type: ${contentType}`,
    "",
    "",
  ].join("\r\n");
  return {
    head: Buffer.from(head),
    tail: Buffer.from(`\r\n--${boundary}--\r\n`),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}

/** The body: the frame around the bytes of the file. */
export async function* framed({ head, tail }: FormFrame, range: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield head;
  yield* range;
  yield tail;
}

/** Escapes a name as browsers do (HTML Standard, multipart/form-data encoding algorithm). */
const quote = (text: string): string => text.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");

/**
 * The failure for a receiver's status: any HTTP status but success. Redirects are failures, because they are not
 * followed.
 */
export function formFailure(status: number): AppError {
  const [code, advice] = explainStatus(status);
  return new AppError(code, `The upload URL responded with HTTP ${status}; ${advice}.`);
}

function explainStatus(status: number): [ErrorCode, string] {
  if (status === 401 || status === 403) return ["storage_denied", "check the user and password in `storage.url`"];
  if (status === 404) return ["storage_url_not_found", "check the path in `storage.url`"];
  if (status === 413) return ["storage_denied", "it must accept files of this size"];
  if (isTransientStatus(status)) return ["storage_unreachable", "try again later"];
  if (status >= 300 && status < 400) return ["storage_denied", "redirects are not followed"];
  return ["storage_denied", "it must accept a POST of multipart/form-data"];
}
