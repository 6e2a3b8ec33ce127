// Recognizes sources that are not media files, such as a web page whose URL was given in place of the file's.
import { open } from "node:fs/promises";
import { AppError } from "#shared/errors.ts";

const HEAD_BYTES = 1024;

/** By the start of the text, after what `contentOf` skips. */
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^<(?:!doctype html|html|head|body)\b/i, "a web page (text/html)"],
  [/^<error\b/i, "an error in XML"],
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
  KINDS.find(([pattern]) => pattern.test(contentOf(text)))?.[1] ?? null;

/** What is skipped before the content: comments and the XML declaration. */
const SKIPPED = [
  { start: "<!--", end: "-->" },
  { start: "<?xml", end: ">" },
];

/** The text after its byte order mark, spaces, comments and XML declaration. */
function contentOf(text: string): string {
  // `trimStart` removes the byte order mark, too.
  let rest = text.trimStart();
  for (;;) {
    const skipped = SKIPPED.find(({ start }) => rest.startsWith(start));
    const end = skipped ? rest.indexOf(skipped.end, skipped.start.length) : -1;
    if (!skipped || end < 0) return rest;
    rest = rest.slice(end + skipped.end.length).trimStart();
  }
}

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
