// JSON Schema (2020-12, as OpenAPI 3.1 has it) of the zod schemas that parse requests and shape answers.
import * as z from "zod";

export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Where a named schema lies in the document. */
export const schemaRef = (name: string): string => `#/components/schemas/${name}`;

/** The JSON Schemas of named zod schemas, which refer to one another by their names. */
export function jsonSchemas(named: Readonly<Record<string, z.ZodType>>): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { ...OPTIONS, uri: schemaRef });
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, withoutAddress(schema)]));
}

/** The JSON Schema of one zod schema, all in one piece. */
export const jsonSchema = (schema: z.ZodType): JsonSchema => withoutAddress(z.toJSONSchema(schema, OPTIONS));

/** As clients write it: before defaults and transformations. Answers are described alike, so that members may be added. */
const OPTIONS = {
  target: "draft-2020-12",
  io: "input",
  unrepresentable: "any",
  override: ({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: JsonSchema }) => {
    dropEmptyWords(jsonSchema);
    if (jsonSchema.pattern !== undefined && ignoresCase(zodSchema)) delete jsonSchema.pattern;
  },
} as const;

/** zod says of every whole number that JavaScript can count to it, and of every name that it is a string. */
function dropEmptyWords(schema: JsonSchema): void {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (JSON.stringify(schema.propertyNames) === '{"type":"string"}') delete schema.propertyNames;
}

/** Patterns of JSON Schema have no flags: one that ignores case would refuse what the parser takes. */
function ignoresCase(schema: z.core.$ZodType): boolean {
  const { def } = schema._zod;
  // Of optional strings, strings with defaults and the like.
  if ("innerType" in def && def.innerType instanceof z.ZodType) return ignoresCase(def.innerType);
  return (def.checks ?? []).some(
    ({ _zod: { def } }) => "pattern" in def && def.pattern instanceof RegExp && def.pattern.ignoreCase,
  );
}

const withoutAddress = ({ $schema: _dialect, $id: _address, ...schema }: JsonSchema): JsonSchema => schema;

/** As against `true` and `false`, which JSON Schema takes for schemas too, and nothing. */
export const isSchema = (value: unknown): value is JsonSchema => typeof value === "object" && value !== null;
