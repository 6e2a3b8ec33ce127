// What is said of a body that is no JSON.
import { jsonFault } from "./json-error.ts";

/** Lines of API v1's configuration: `var s3 = …`, `set source = …`, `-> mp4 = …`. */
const V1_CONFIG = /^\s*(?:(?:var|set)\s+\w+\s*=|->\s*\w+)/m;
/** Fields as browsers and `curl -d name=value` send them, of one text or of many parts. */
const FORM = /^\s*(?:[\w.%+[\]-]+=|--[\w'()+,./:=?-]+\r?\nContent-Disposition:)/i;

/** One sentence, with the place where there is one. `text` is null for what is no UTF-8. */
export function bodyFault(text: string | null): string {
  if (text === null) return "The body is not text in UTF-8; send JSON";
  if (text.trim() === "") return "The body is empty; send JSON";
  if (V1_CONFIG.test(text)) return "The body is a configuration of API v1; this API takes JSON, see /docs";
  if (FORM.test(text)) return "The body is a form; this API takes JSON, see /docs";
  const fault = jsonFault(text);
  if (!fault) return "The body is not valid JSON";
  return `The body is not valid JSON: ${fault.message}, at line ${fault.line}, column ${fault.column}`;
}
