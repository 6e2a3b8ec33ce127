// The `input` section of a job request: the source.

import * as z from "zod";
import { publicUrl } from "../job/metadata.ts";
import { type AllowPrivate, checkUrl } from "../network/address-policy.ts";
import { ok, type Result } from "../result.ts";
import { strictObject, unknownField } from "../strict-object.ts";
import { clipFields } from "./clip.ts";
import { invalid, isObject } from "./parse-section.ts";
import { MAX_HEADER_CHARS, MAX_HEADERS, parseSourceHeaders } from "./source-headers.ts";
import { azureInput } from "./storage/azure.ts";
import { backblazeInput } from "./storage/backblaze.ts";
import { nodeFolderInput } from "./storage/node-folder.ts";
import { S3_SERVICES } from "./storage/s3-services.ts";
import type { InputService } from "./storage/storage-service.ts";
import { type AccessSecret, AzureContainer, type RequestedObject, S3Bucket } from "./storage/storage-spec.ts";
import { unknownService } from "./storage/unknown-service.ts";

export const InputSpec = z.discriminatedUnion("kind", [
  /** The URL without its secrets. `AccessSecret` has the secrets. */
  z.object({ kind: z.literal("url"), url: z.string() }),
  /** An object in a bucket; the Worker signs requests for it. */
  z.object({ kind: z.literal("bucket"), ...S3Bucket.shape, key: z.string() }),
  /** A blob in a container of Azure; the Worker signs a URL for it. */
  z.object({ kind: z.literal("azure"), ...AzureContainer.shape, key: z.string() }),
  /** A file in a folder on nodes. `key`: its path below the folder. */
  z.object({ kind: z.literal("folder"), folder: z.string(), key: z.string() }),
  /** A file that the client uploaded to the service. */
  z.object({
    kind: z.literal("upload"),
    id: z.string(),
    name: z.string(),
    /** `store`: the service's storage with the file. `origin`: origin at which the Worker serves it. */
    store: z.enum(["bucket", "scratch"]),
    origin: z.string(),
  }),
]);
export type InputSpec = z.infer<typeof InputSpec>;

/** An input in a request. Only the service knows the rest of an upload, and of a bucket of Backblaze. */
export type RequestedInput =
  | Extract<InputSpec, { kind: "url" }>
  | RequestedObject
  | { readonly kind: "upload"; readonly id: string };

const SERVICES: ReadonlyMap<string, InputService> = new Map([
  ...[...S3_SERVICES].map(([name, { input }]) => [name, input] as const),
  ["backblaze", backblazeInput],
  ["azure", azureInput],
  ["folder", nodeFolderInput],
]);

/** `secret` is null for an upload, and for a folder on nodes. */
type ParsedInput = { input: RequestedInput; secret: AccessSecret | null };

/** Maximum length of a URL. Signed URLs are long; servers do not accept longer URLs. */
const MAX_URL_CHARS = 8192;

const UrlBody = strictObject({
  url: z
    .string()
    .max(MAX_URL_CHARS)
    .describe("The http or https URL of the media file; it may contain a user and password"),
  headers: z
    .record(z.string(), z.string().max(MAX_HEADER_CHARS))
    .optional()
    .describe(
      `Up to ${MAX_HEADERS} headers of the requests for the file, such as \`Authorization\`. Sent only to the scheme, host and ` +
        "port of the URL, and not after a redirect to another. Never returned",
    ),
}).describe("A media file at a URL");

const UploadBody = strictObject({
  upload: z.string().describe("The id of a completed upload of the account"),
}).describe("A file that was uploaded to the service");

/** The section of a job request. Probes have no `start` and `end`. */
export const InputBody = z.union(
  [UrlBody, UploadBody, ...[...SERVICES.values()].map(({ body }) => body)].map((body) =>
    body.extend(clipFields).describe(body.description ?? ""),
  ),
);

/** Parses the `input` section: a URL, an upload, or an object in a bucket. */
export function parseInput(value: unknown, allow: AllowPrivate): Result<ParsedInput> {
  if (!isObject(value)) return invalid("input_not_valid", "The job 'input' is not a valid object.");
  if ("upload" in value) return parseUpload(value);
  if (value.service === undefined) return parseUrl(value, allow);
  const service = typeof value.service === "string" ? SERVICES.get(value.service) : undefined;
  if (!service) {
    return invalid("input_not_valid", unknownService("input", value.service, [...SERVICES.keys()]));
  }
  const parsed = service.parse(value, allow);
  return parsed.ok ? ok({ input: parsed.value.object, secret: parsed.value.keys }) : parsed;
}

function parseUpload({ upload, ...rest }: Record<string, unknown>): Result<ParsedInput> {
  const [extra] = Object.keys(rest);
  if (extra !== undefined) return invalid("input_not_valid", `\`input\` ${unknownField(extra, ["upload"])}`);
  if (typeof upload === "string" && upload !== "") return ok({ input: { kind: "upload", id: upload }, secret: null });
  return invalid("input_not_valid", "`input.upload` must be a string: the id of a completed upload");
}

function parseUrl({ url, headers, ...rest }: Record<string, unknown>, allow: AllowPrivate): Result<ParsedInput> {
  const [extra] = Object.keys(rest);
  const unknown = extra === undefined ? "" : `\`input\` ${unknownField(extra, ["url", "headers"])}`;
  if (url === undefined && ("bucket" in rest || "key" in rest)) {
    return invalid("input_not_valid", unknownService("input", undefined, [...SERVICES.keys()]));
  }
  if (typeof url !== "string" || url === "") {
    const isMissing = url === undefined || url === "";
    const what = "the http or https URL of the media file";
    const message = isMissing ? `\`input.url\` is missing: ${what}` : `\`input.url\` must be a string: ${what}`;
    return invalid("input_url_not_valid", unknown === "" ? message : unknown);
  }
  if (unknown !== "") return invalid("input_not_valid", unknown);
  if (url.length > MAX_URL_CHARS)
    return invalid("input_url_not_valid", `\`input.url\` must have at most ${MAX_URL_CHARS} characters`);
  const checked = checkUrl(url, allow);
  if (!checked.ok) return invalid("input_url_not_valid", `\`input.url\` ${checked.error}`);
  const input = { kind: "url", url: publicUrl(checked.value) } as const;
  if (headers === undefined) return ok({ input, secret: { url: checked.value } });
  const { username, password } = new URL(checked.value);
  const parsed = parseSourceHeaders(headers, username !== "" || password !== "");
  if (!parsed.ok) return invalid("input_not_valid", `\`input.headers${parsed.error}`);
  return ok({ input, secret: { url: checked.value, headers: parsed.value } });
}
