// The error message for a body that is not JSON.
import { jsonError } from "./json-error.ts";

/** Lines of an API v1 configuration: `var s3 = …`, `set source = …`, `-> mp4 = …`. */
const V1_CONFIG = /^[ \t]*(?:(?:var|set)[ \t]+\w+[ \t]*=|->[ \t]*\w)/m;
/** Form fields as browsers and `curl -d name=value` send them: URL-encoded or multipart. */
const FORM = /^(?:[\w.%+[\]-]+=|--[\w'()+,./:=?-]+\r?\nContent-Disposition:)/i;

/** Characters searched for the signs of other formats: they appear at the start of a text. */
const HEAD_CHARS = 4096;

/** Returns a sentence, with the position if known. `text` is null for a body that is not UTF-8. */
export function bodyError(text: string | null): string {
  if (text === null) return "The body is not valid UTF-8; send JSON";
  if (text.trim() === "") return "The body is empty; send JSON";
  const head = text.trimStart().slice(0, HEAD_CHARS);
  if (V1_CONFIG.test(head)) return "The body is an API v1 configuration; this API accepts JSON, see /docs";
  if (FORM.test(head)) return "The body is a form; this API accepts JSON, see /docs";
  const failure = jsonError(text);
  if (!failure) return "The body is not valid JSON";
  return `The body is not valid JSON: ${failure.message} (line ${failure.line}, column ${failure.column})`;
}
