// The `input` section of a job request: where the source comes from.
import * as z from "zod";
import { type AllowPrivate, checkUrl } from "../address-policy.ts";
import { isObject, type Parsed, refuse } from "./parse-section.ts";

export const InputSpec = z.object({ url: z.string() });
export type InputSpec = z.infer<typeof InputSpec>;

/** Signed addresses are long; beyond this no server takes them. */
const MAX_URL_CHARS = 8192;

/** Parses the `input` section. */
export function parseInput(value: unknown, allow: AllowPrivate): Parsed<InputSpec> {
  if (!isObject(value)) return refuse("input_not_valid", "The job 'input' is not a valid object.");
  if (typeof value.url !== "string" || value.url === "") {
    return refuse("input_url_not_valid", "`input.url` must be the http or https address of the media file");
  }
  const { url, ...rest } = value;
  const [extra] = Object.keys(rest);
  if (extra !== undefined) return refuse("input_not_valid", `\`input.${extra}\` is not known; allowed: url`);
  if (url.length > MAX_URL_CHARS)
    return refuse("input_url_not_valid", `\`input.url\`: at most ${MAX_URL_CHARS} characters`);
  const checked = checkUrl(url, allow);
  if (!checked.ok) return refuse("input_url_not_valid", `\`input.url\`: ${checked.reason}`);
  return { ok: true, value: { url: checked.url } };
}
