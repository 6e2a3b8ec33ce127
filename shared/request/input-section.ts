// The `input` section of a job request: where the source comes from.
import * as z from "zod";
import { publicUrl } from "../job/metadata.ts";
import { type AllowPrivate, checkUrl } from "../network/address-policy.ts";
import { strictObject, unknownField } from "../strict-object.ts";
import { isObject, type Parsed, refuse } from "./parse-section.ts";
import { S3_SERVICES } from "./storage/s3-services.ts";
import { type AccessSecret, S3Bucket } from "./storage/storage-spec.ts";
import { unknownService } from "./storage/unknown-service.ts";

export const InputSpec = z.discriminatedUnion("kind", [
  /** An address as it may be shown: what is secret in it lies in the `AccessSecret`. */
  z.object({ kind: z.literal("url"), url: z.string() }),
  /** An object of a bucket, which the Worker signs requests for. */
  z.object({ kind: z.literal("bucket"), ...S3Bucket.shape, key: z.string() }),
]);
export type InputSpec = z.infer<typeof InputSpec>;

type ParsedInput = { input: InputSpec; secret: AccessSecret };

/** Signed addresses are long; beyond this no server takes them. */
const MAX_URL_CHARS = 8192;

const UrlBody = strictObject({
  url: z
    .string()
    .max(MAX_URL_CHARS)
    .describe("The http or https address of the media file; a user and password may be in it"),
}).describe("A media file at an address");

/** The section as clients write it. */
export const InputBody = z.union([UrlBody, ...[...S3_SERVICES.values()].map(({ input }) => input.body)]);

/** Parses the `input` section: an address, or an object of a bucket. */
export function parseInput(value: unknown, allow: AllowPrivate): Parsed<ParsedInput> {
  if (!isObject(value)) return refuse("input_not_valid", "The job 'input' is not a valid object.");
  if (value.service === undefined) return parseUrl(value, allow);
  const service = typeof value.service === "string" ? S3_SERVICES.get(value.service) : undefined;
  if (!service) {
    return refuse("input_not_valid", unknownService("input", value.service, [...S3_SERVICES.keys()]));
  }
  const parsed = service.input.parse(value, allow);
  if (!parsed.ok) return parsed;
  const { object, keys } = parsed.value;
  return { ok: true, value: { input: { kind: "bucket", ...object }, secret: keys } };
}

function parseUrl({ url, ...rest }: Record<string, unknown>, allow: AllowPrivate): Parsed<ParsedInput> {
  const [extra] = Object.keys(rest);
  const unknown = extra === undefined ? "" : `\`input\` ${unknownField(extra, ["url"])}`;
  if (url === undefined && ("bucket" in rest || "key" in rest)) {
    return refuse("input_not_valid", unknownService("input", undefined, [...S3_SERVICES.keys()]));
  }
  if (typeof url !== "string" || url === "") {
    const isMissing = url === undefined || url === "";
    const what = "the http or https address of the media file";
    const message = isMissing ? `\`input.url\` is missing: ${what}` : `\`input.url\` must be a string: ${what}`;
    return refuse("input_url_not_valid", unknown === "" ? message : unknown);
  }
  if (unknown !== "") return refuse("input_not_valid", unknown);
  if (url.length > MAX_URL_CHARS)
    return refuse("input_url_not_valid", `\`input.url\`: at most ${MAX_URL_CHARS} characters`);
  const checked = checkUrl(url, allow);
  if (!checked.ok) return refuse("input_url_not_valid", `\`input.url\`: ${checked.reason}`);
  return { ok: true, value: { input: { kind: "url", url: publicUrl(checked.url) }, secret: { url: checked.url } } };
}
