// Recognizes sources that are not media files, such as a web page whose URL was given in place of the file's.
import { open } from "node:fs/promises";
import { AppError } from "#shared/errors.ts";

const HEAD_BYTES = 1024;

/** By the start of the text, after a byte order mark and spaces. */
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body)\b/is, "a web page (text/html)"],
  [/^(?:<\?xml.*?>\s*)?<error\b/is, "an error in XML"],
  [/^\{\s*"/, "JSON"],
];

/** Adds to a probe failure what the file is, if that is recognized. Other errors stay unchanged. */
export async function explainNotMedia(error: unknown, path: string): Promise<unknown> {
  if (!(error instanceof AppError) || error.code !== "input_not_media") return error;
  const kind = kindOf(await readHead(path));
  if (kind === null) return error;
  const advice = "check that the URL names the media file itself, and that it can be fetched without a login";
  return new AppError("input_not_media", `The host responded with ${kind}, not with a media file; ${advice}.`, {
    cause: error,
  });
}

/** What a text is that hosts send in place of a file; null for anything else. */
export const kindOf = (text: string): string | null =>
  KINDS.find(([pattern]) => pattern.test(text.replace(/^\ufeff?\s*/, "")))?.[1] ?? null;

async function readHead(path: string): Promise<string> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
      return buffer.toString("utf8", 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch {
    return "";
  }
}
