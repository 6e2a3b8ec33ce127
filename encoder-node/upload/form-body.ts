// A file in a multipart/form-data body (RFC 7578): what goes around it. Pure.
import type { UploadForm } from "#shared/protocol/protocol.ts";

/** The bytes before and after the file, and the content type that tells them apart. */
export type FormFrame = { readonly head: Buffer; readonly tail: Buffer; readonly contentType: string };

/**
 * Frames a file, with the plain fields before it, so that a receiver that reads the body as a stream knows what the
 * file is when it comes. The boundary must not occur in the file or the fields: random characters do not.
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

/** Names as browsers write them (HTML Standard, multipart/form-data encoding algorithm). */
const quote = (text: string): string => text.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");
