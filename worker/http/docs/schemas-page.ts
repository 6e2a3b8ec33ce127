// JSON Schemas as Markdown.
import { isSchema, type JsonSchema } from "../openapi/json-schema.ts";

/** A table of Markdown; empty without rows. */
export const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string => {
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => inOneLine(cell).replaceAll("|", "\\|")).join(" | ")} |`;
  return rows.length === 0 ? "" : [row(heads), row(heads.map(() => "---")), ...rows.map(row)].join("\n");
};

const inOneLine = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ");

export const schemasPage = (schemas: Readonly<Record<string, JsonSchema>>): string =>
  ["# API: schemas", "Objects of requests and responses.", ...Object.entries(schemas).map(schemaSection)].join("\n\n");

function schemaSection([name, schema]: readonly [string, JsonSchema]): string {
  const choice = memberTypes(schema).length > 0 ? `One of: ${typeOf(schema)}` : "";
  const fields = table(["Field", "Type", "Description"], fieldRows(schema, ""));
  return [`## ${name}`, schema.description ?? "", choice, fields].filter((text) => text !== "").join("\n\n");
}

/** The fields of an object, each followed by the fields of nested objects. */
function fieldRows(schema: JsonSchema, prefix: string): string[][] {
  const named = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    if (!isSchema(field)) return [];
    const path = `${prefix}${name}`;
    const required = schema.required?.includes(name) ? " (required)" : "";
    return [[`\`${path}\`${required}`, typeOf(field), describe(field)], ...innerRows(field, path)];
  });
  const patterned = Object.entries(schema.patternProperties ?? {}).flatMap(([pattern, field]) =>
    isSchema(field) ? [[`\`${pattern}\``, typeOf(field), describe(field)]] : [],
  );
  return [...named, ...patterned];
}

function innerRows(field: JsonSchema, path: string): string[][] {
  if (isSchema(field.items)) return fieldRows(field.items, `${path}[].`);
  return [...fieldRows(field, `${path}.`), ...memberTypes(field).flatMap((member) => fieldRows(member, `${path}.`))];
}

const memberTypes = ({ anyOf, oneOf }: JsonSchema): JsonSchema[] =>
  [...(anyOf ?? []), ...(oneOf ?? [])].filter(isSchema);

/** Maximum number of values that the type shows. More values are part of the description. */
const FEW = 4;
const quoted = (values: readonly unknown[]): string => values.map((value) => `\`${value}\``).join(", ");

/** The type as text, with links to named schemas. */
export function typeOf(schema: JsonSchema): string {
  const name = schema.$ref?.split("/").at(-1);
  if (name !== undefined) return `[${name}](/docs/reference/schemas#${name.toLowerCase()})`;
  const members = memberTypes(schema);
  if (members.length > 0) return members.map(typeOf).join(" or ");
  if (schema.const !== undefined) return quoted([JSON.stringify(schema.const)]);
  if (schema.enum !== undefined && schema.enum.length <= FEW) return quoted(schema.enum);
  if (schema.type === "array") return `array of ${isSchema(schema.items) ? typeOf(schema.items) : "anything"}`;
  if (schema.type === "object" && isSchema(schema.additionalProperties) && schema.properties === undefined) {
    const { additionalProperties: member } = schema;
    return Object.keys(member).length > 0 ? `object of ${typeOf(member)} by name` : "object";
  }
  return (Array.isArray(schema.type) ? schema.type.join(" or ") : schema.type) ?? "anything";
}

/** The description, then the default and limits. */
export function describe({ description = "", default: preset, ...schema }: JsonSchema): string {
  const details = [
    preset === undefined || EMPTY.has(JSON.stringify(preset)) ? "" : `default \`${JSON.stringify(preset)}\``,
    range(schema.minimum, schema.maximum),
    schema.exclusiveMinimum === undefined ? "" : `more than ${schema.exclusiveMinimum}`,
    range(schema.minItems, schema.maxItems),
    schema.enum && schema.enum.length > FEW ? `one of ${quoted(schema.enum)}` : "",
  ].filter((part) => part !== "" && !description.includes(part));
  return [description, details.join(", ")].filter((part) => part !== "").join(" — ");
}

/** Default values that the description omits. */
const EMPTY: ReadonlySet<string> = new Set(['""', "[]", "{}"]);

function range(least: number | undefined, most: number | undefined): string {
  if (least !== undefined && most !== undefined) return `${least} to ${most}`;
  if (least !== undefined) return `at least ${least}`;
  return most === undefined ? "" : `at most ${most}`;
}
