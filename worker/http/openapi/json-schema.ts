// JSON Schema (2020-12, the dialect of OpenAPI 3.1) of the zod schemas for requests and responses.
import * as z from "zod";
import { NAMED } from "#shared/named-schemas.ts";
import type { NamedSchema } from "../operation/operation.ts";

export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** The reference to a named schema of the document. */
export const schemaRef = (name: string): string => `#/components/schemas/${name}`;

/** The id of a named schema. */
export const nameOf = (schema: NamedSchema): string =>
  typeof schema === "string" ? schema : (NAMED.get(schema)?.id ?? "");

export const refTo = (schema: NamedSchema): JsonSchema => ({ $ref: schemaRef(nameOf(schema)) });

/** The JSON Schemas of all zod schemas with an id, which refer to each other by it. */
export function jsonSchemas(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(NAMED, { ...OPTIONS, uri: schemaRef });
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, withoutUri(schema)]));
}

/** The JSON Schema of a zod schema, without references. */
export const jsonSchema = (schema: z.ZodType): JsonSchema => withoutUri(z.toJSONSchema(schema, OPTIONS));

/**
 * The input form, before defaults and transformations. Responses use it, too, so that they allow additional properties.
 */
const OPTIONS = {
  target: "draft-2020-12",
  io: "input",
  unrepresentable: "any",
  override: ({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: JsonSchema }) => {
    dropRedundantKeywords(jsonSchema);
    if (jsonSchema.pattern !== undefined && ignoresCase(zodSchema)) delete jsonSchema.pattern;
  },
} as const;

/** zod limits all whole numbers to safe integers, and describes all property names as strings. */
function dropRedundantKeywords(schema: JsonSchema): void {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (JSON.stringify(schema.propertyNames) === '{"type":"string"}') delete schema.propertyNames;
}

/** Patterns in JSON Schema have no flags: a case-insensitive pattern would reject values that the parser accepts. */
function ignoresCase(schema: z.core.$ZodType): boolean {
  const { def } = schema._zod;
  // The inner type of optional strings, strings with defaults and so on.
  if ("innerType" in def && def.innerType instanceof z.ZodType) return ignoresCase(def.innerType);
  return (def.checks ?? []).some(
    ({ _zod: { def } }) => "pattern" in def && def.pattern instanceof RegExp && def.pattern.ignoreCase,
  );
}

const withoutUri = ({ $schema: _dialect, $id: _uri, ...schema }: JsonSchema): JsonSchema => schema;

/** True if a value is a schema object. JSON Schema also allows `true` and `false`. */
export const isSchema = (value: unknown): value is JsonSchema => typeof value === "object" && value !== null;
