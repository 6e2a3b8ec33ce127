// What a source is that is no media file: a web page where its URL names the page, not the file.
import { open } from "node:fs/promises";
import { AppError } from "#shared/errors.ts";

const BEGINNING_BYTES = 1024;

/** By how such answers begin, behind a byte order mark and spaces. */
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body)\b/is, "a web page (text/html)"],
  [/^(?:<\?xml.*?>\s*)?<error\b/is, "an error in XML"],
  [/^\{\s*"/, "JSON"],
];

/** A failure of probing with what the file is, where that can be told; any other failure stays what it is. */
export async function explainNotMedia(error: unknown, path: string): Promise<unknown> {
  if (!(error instanceof AppError) || error.code !== "input_not_media") return error;
  const kind = kindOf(await beginning(path));
  if (kind === null) return error;
  const advice = "check that the URL names the media file itself, and that it can be fetched without a login";
  return new AppError("input_not_media", `The host answered with ${kind}, not with a media file; ${advice}.`, {
    cause: error,
  });
}

/** What a text is that hosts answer in place of a file; null for anything else. */
export const kindOf = (text: string): string | null =>
  KINDS.find(([pattern]) => pattern.test(text.replace(/^\ufeff?\s*/, "")))?.[1] ?? null;

async function beginning(path: string): Promise<string> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(BEGINNING_BYTES), 0, BEGINNING_BYTES, 0);
      return buffer.toString("utf8", 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch {
    return "";
  }
}
