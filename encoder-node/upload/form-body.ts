// A file as the one field of a multipart/form-data body (RFC 7578): what goes around it. Pure.
import type { FormField } from "#shared/protocol.ts";

/** The bytes before and after the file, and the content type that tells them apart. */
export type FormFrame = { readonly head: Buffer; readonly tail: Buffer; readonly contentType: string };

/** Frames a file. The boundary must not occur in the file: random characters do not. */
export function formFrame({ name, fileName, contentType }: FormField, boundary: string): FormFrame {
  const head = [
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
