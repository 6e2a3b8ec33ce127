// Prints TypeScript types for the JSON Schemas of the API, so that the published client needs no schema library.
import * as z from "zod";

const text = z.string().optional();
type Schema = z.infer<typeof Schema>;
/** The keywords of JSON Schema that zod writes for the API (worker/http/openapi/json-schema.ts). */
const Schema = z.looseObject({
  $ref: text,
  description: text,
  const: z.union([z.string(), z.number(), z.boolean(), z.null()]).optional(),
  enum: z.array(z.union([z.string(), z.number(), z.boolean(), z.null()])).optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  required: z.array(z.string()).optional(),
  get anyOf(): z.ZodOptional<z.ZodArray<typeof Schema>> {
    return z.array(Schema).optional();
  },
  get oneOf(): z.ZodOptional<z.ZodArray<typeof Schema>> {
    return z.array(Schema).optional();
  },
  get allOf(): z.ZodOptional<z.ZodArray<typeof Schema>> {
    return z.array(Schema).optional();
  },
  get items(): z.ZodOptional<typeof Schema> {
    return Schema.optional();
  },
  get properties(): z.ZodOptional<z.ZodRecord<z.ZodString, typeof Schema>> {
    return z.record(z.string(), Schema).optional();
  },
  get additionalProperties(): z.ZodOptional<z.ZodUnion<readonly [z.ZodBoolean, typeof Schema]>> {
    return z.union([z.boolean(), Schema]).optional();
  },
});

/** The component schemas of the OpenAPI document. */
export const Components = z.record(z.string(), Schema);
export type Components = z.infer<typeof Components>;

/** `isRequest`: clients write the type, so its properties and lists may be read-only. */
type Context = { readonly isRequest: boolean };

/** Type declarations for all components, except those in `without`. */
export function printTypes(
  components: Components,
  requests: ReadonlySet<string>,
  without: ReadonlySet<string>,
): string {
  return Object.entries(components)
    .filter(([name]) => !without.has(name))
    .map(([name, schema]) => {
      const printed = typeOf(schema, { isRequest: requests.has(name) }, "");
      return `${comment(schema.description, "")}export type ${name} = ${printed};\n`;
    })
    .join("\n");
}

/** The names of the given components and of all components that they refer to. */
export function reachable(components: Components, from: readonly string[]): Set<string> {
  const names = new Set<string>();
  const visit = (name: string): void => {
    if (names.has(name)) return;
    names.add(name);
    for (const [, other = ""] of JSON.stringify(components[name] ?? {}).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      visit(other);
    }
  };
  from.forEach(visit);
  return names;
}

function typeOf(schema: Schema, context: Context, indent: string): string {
  if (schema.$ref !== undefined) return schema.$ref.replace(/^.*\//, "");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)));
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return union(options.map((option) => typeOf(option, context, indent)));
  if (schema.allOf) return schema.allOf.map((part) => typeOf(part, context, indent)).join(" & ");
  const { type } = schema;
  if (Array.isArray(type)) return union(type.map((name) => typeOf({ ...schema, type: name }, context, indent)));
  switch (type) {
    case "integer":
      return "number";
    case "string":
    case "number":
    case "boolean":
    case "null":
      return type;
    case "array": {
      const item = schema.items ? typeOf(schema.items, context, indent) : "unknown";
      return `${context.isRequest ? "readonly " : ""}${/[|&]|^readonly/.test(item) ? `(${item})` : item}[]`;
    }
    case "object":
      return objectType(schema, context, indent);
    default:
      return "unknown";
  }
}

const union = (types: readonly string[]): string => [...new Set(types)].join(" | ");

function objectType(schema: Schema, context: Context, indent: string): string {
  const { properties = {}, required = [], additionalProperties: others } = schema;
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(([name, property]) => {
    const isOptional = !required.includes(name);
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    const type = typeOf(property, context, inner);
    return `${comment(property.description, inner)}${inner}${key}${isOptional ? "?" : ""}: ${type}${isOptional ? " | undefined" : ""};\n`;
  });
  const value = typeof others === "object" ? typeOf(others, context, inner) : "unknown";
  const index =
    typeof others === "object" ? `${inner}[name: string]: ${members.length > 0 ? "unknown" : value};\n` : "";
  if (members.length === 0 && index === "") return "Record<string, never>";
  return `{\n${members.join("")}${index}${indent}}`;
}

/** The formatter may indent a comment further, and comments end at column 120. */
const COMMENT_COLUMNS = 100;

function comment(description: string | undefined, indent: string): string {
  if (description === undefined) return "";
  const lines: string[] = [];
  for (const word of description.replaceAll("*/", "*\\/").split(" ")) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
    if (lines.length === 0 || longer.length > COMMENT_COLUMNS - indent.length) lines.push(word);
    else lines.splice(-1, 1, longer);
  }
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`), `${indent} */\n`].join("\n");
}
