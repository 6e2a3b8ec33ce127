// The named schemas of the document: schemas with an id in the registry, and the sections of job requests.
import * as z from "zod";
import { FormatHash } from "#shared/format/format-hash.ts";
import { TagsBody } from "#shared/job/tags.ts";
import { NAMED } from "#shared/named-schemas.ts";
import { InputBody } from "#shared/request/input-section.ts";
import { NotificationBody } from "#shared/request/notification-section.ts";
import { HttpStreamParams } from "#shared/request/outputs/httpstream-params.ts";
import { ImageParams } from "#shared/request/outputs/image-params.ts";
import { TextParams } from "#shared/request/outputs/text-params.ts";
import { VideoParams } from "#shared/request/outputs/video-params.ts";
import { SettingsBody } from "#shared/request/settings-section.ts";
import { StorageBody } from "#shared/request/storage/storage-section.ts";
import { JOB_REQUEST, NEW_TEMPLATE, OUTPUTS } from "./job-request.ts";
import { type JsonSchema, jsonSchemas } from "./json-schema.ts";

/** Sections of job requests. Job requests have a separate parser, which reports errors section by section. */
const SECTIONS = {
  Settings: SettingsBody.describe("Settings of the job"),
  Tags: TagsBody,
  InputRequest: InputBody.describe("The source"),
  ...members("Input", InputBody.options),
  Storage: StorageBody.describe("Where to store the outputs"),
  ...members("Storage", StorageBody.options),
  VideoParams,
  ImageParams,
  TextParams,
  HttpStreamParams,
  FormatHash,
  Notification: NotificationBody.describe("Where to send the events of the job"),
  ...members("Notification", NotificationBody.options),
};
for (const [id, schema] of Object.entries(SECTIONS)) NAMED.add(schema, { id });

/** All schemas as JSON Schema, by name. */
export function componentSchemas(): Record<string, JsonSchema> {
  const schemas = { JobRequest: JOB_REQUEST, NewTemplate: NEW_TEMPLATE, Outputs: OUTPUTS, ...jsonSchemas() };
  return Object.fromEntries(Object.entries(schemas).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Names for the members of a union: the `service` or `type` that distinguishes them, or `Url`. */
function members(prefix: string, options: readonly z.core.$ZodType[]): Record<string, z.ZodType> {
  const named = options.filter((option) => option instanceof z.ZodObject);
  return Object.fromEntries(named.map((option) => [prefix + capitalized(tagOf(option)), option]));
}

function tagOf({ shape }: z.ZodObject): string {
  if (shape.upload) return "upload";
  const tag = shape.service ?? shape.type;
  return tag instanceof z.ZodLiteral ? String(tag.value) : "url";
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
