// The fields of a request by the service's own schemas: kinds, choices, limits, defaults. The build of the dashboard
// replaces this module by its values, so that pages load neither zod nor the schemas.
import * as z from "zod";
import { type Declaration, PARAMETERS } from "../../../shared/parameters/parameter.ts";
import { InputBody } from "../../../shared/request/input-section.ts";
import { NotificationBody } from "../../../shared/request/notification-section.ts";
import { HttpStreamParams } from "../../../shared/request/outputs/httpstream-params.ts";
import { ImageParams } from "../../../shared/request/outputs/image-params.ts";
import { TextParams } from "../../../shared/request/outputs/text-params.ts";
import { VideoParams } from "../../../shared/request/outputs/video-params.ts";
import { SettingsBody } from "../../../shared/request/settings-section.ts";
import { StorageBody } from "../../../shared/request/storage/storage-section.ts";
import type { SchemaField, SchemaFields } from "./form-field.ts";

type Schema = z.core.JSONSchema.BaseSchema & Declaration;

const schemaOf = (body: z.ZodType): Schema =>
  z.toJSONSchema(body, { io: "input", unrepresentable: "any", metadata: PARAMETERS }) as Schema;
const isSchema = (value: unknown): value is Schema => typeof value === "object" && value !== null;
const variants = (schema: Schema): Schema[] => (schema.anyOf ?? schema.oneOf ?? [schema]).filter(isSchema);

/** Numbers with at most this many values are chosen from a list. */
const MAX_CHOICES = 8;
/** Larger limits are no help. */
const MAX_LIMIT = 10_000;

function fieldOf(schema: Schema): SchemaField {
  const all = variants(schema);
  const types = all.map(({ type }) => type);
  const numeric = all.find(({ type }) => type === "number" || type === "integer");
  if (types.includes("boolean")) return { type: "flag" };
  if (numeric) return all.length > 1 ? { type: "mixed" } : numberField(numeric, schema.default);
  const words = all.flatMap((variant) =>
    typeof variant.const === "string" ? [variant.const] : (variant.enum ?? []).map(String),
  );
  if (words.length > 0) return { type: "choice", choices: words };
  if (all[0]?.type === "array") {
    const { items } = all[0];
    return { type: isSchema(items) && !Array.isArray(items) && items.type === "number" ? "numbers" : "list" };
  }
  return { type: "text" };
}

function numberField({ type, minimum = -MAX_LIMIT, maximum = MAX_LIMIT }: Schema, standard: unknown): SchemaField {
  if (type === "integer" && maximum - minimum < MAX_CHOICES) {
    return { type: "choice", choices: Array.from({ length: maximum - minimum + 1 }, (_, at) => `${minimum + at}`) };
  }
  const range = minimum > -MAX_LIMIT && maximum < MAX_LIMIT ? [`${minimum} to ${maximum}`] : [];
  const limits = [...range, ...(standard === undefined || standard === 0 ? [] : [`${standard} by default`])];
  return { type: "number", ...(limits.length > 0 ? { limits: limits.join("; ") } : {}) };
}

const WITH_VIDEO = ["video", "image", "animated", "stream"] as const;

/** The fields of an object, also of objects in it: `hls.path`. */
function fieldsOf(schema: Schema, prefix = "", isRequired = true, outer?: Declaration["forms"]): SchemaFields {
  const { properties = {}, required = [] } = schema;
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, member]) => {
      if (!isSchema(member)) return [];
      const isNeeded = isRequired && required.includes(name);
      const { label, example, help, first, isSecret } = member;
      const forms = member.forms ?? (member.changesVideo ? WITH_VIDEO : outer);
      const texts = {
        label: label ?? "",
        example,
        help,
        first,
        forms,
        ...(isSecret ? { type: "secret" as const } : {}),
      };
      const memberField = { ...fieldOf(member), ...(isNeeded ? { required: true } : {}), ...(label ? { texts } : {}) };
      const inner = variants(member).flatMap((variant) =>
        Object.entries(fieldsOf(variant, `${prefix}${name}.`, isNeeded, forms)),
      );
      return [[`${prefix}${name}`, memberField] as const, ...inner];
    }),
  );
}

/** The fields of each service of a section. A section without the name of a service is a URL or an upload. */
const byService = (body: z.ZodType, member: "service" | "type"): Readonly<Record<string, SchemaFields>> =>
  Object.fromEntries(
    variants(schemaOf(body)).map((variant) => {
      const chosen = variant.properties?.[member];
      return [isSchema(chosen) ? String(chosen.const) : Object.keys(variant.properties ?? {})[0], fieldsOf(variant)];
    }),
  );

export const FIELDS = {
  sources: byService(InputBody, "service"),
  storages: byService(StorageBody, "service"),
  notifications: byService(NotificationBody, "type"),
  settings: fieldsOf(schemaOf(SettingsBody)),
  video: fieldsOf(schemaOf(VideoParams)),
  image: fieldsOf(schemaOf(ImageParams)),
  text: fieldsOf(schemaOf(TextParams)),
  stream: fieldsOf(schemaOf(HttpStreamParams)),
};
