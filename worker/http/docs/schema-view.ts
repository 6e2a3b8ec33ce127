// Renders a JSON Schema.
import { isSchema, type JsonSchema } from "../openapi/json-schema.ts";
import { code, codes, type Html, html, prose, section, table } from "./markup.ts";

const nameOf = (ref: string): string => ref.split("/").at(-1) ?? "";
export const schemaAnchor = (name: string): string => `schema-${name}`;

export const schemaLink = (name: string): Html => html`<a href="#${schemaAnchor(name)}">${name}</a>`;

/** The description of the schema, then its fields. */
const viewSchema = (name: string, schema: JsonSchema): Html =>
  html`${schema.description ? html`<p>${prose(schema.description)}.</p>` : ""}${viewInside(name, schema)}`;

/** The fields of the schema, or the schemas of the union. */
function viewInside(name: string, schema: JsonSchema): Html {
  const fields = fieldRows(schema, "");
  const fieldTable = fields.length > 0 ? table(`Fields of ${name}`, ["Field", "Type", "Description"], fields) : "";
  const choice = memberTypes(schema).length > 0 ? html`<p>One of: ${viewType(schema)}</p>` : "";
  return html`${choice}${fieldTable}`;
}

type Row = readonly [name: Html, type: Html, meaning: Html];

/** The fields of an object, each followed by the fields of nested objects. */
function fieldRows(schema: JsonSchema, prefix: string): Row[] {
  const named = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    if (!isSchema(field)) return [];
    const path = `${prefix}${name}`;
    const isRequired = schema.required?.includes(name) ?? false;
    return [fieldRow(path, field, isRequired), ...innerRows(field, path)];
  });
  const patterned = Object.entries(schema.patternProperties ?? {}).flatMap(([pattern, field]) =>
    isSchema(field)
      ? [[html`<code class="pattern">${pattern}</code>`, viewType(field), viewDescription(field)] as const]
      : [],
  );
  return [...named, ...patterned];
}

function innerRows(field: JsonSchema, path: string): Row[] {
  if (isSchema(field.items)) return fieldRows(field.items, `${path}[].`);
  return [...fieldRows(field, `${path}.`), ...memberTypes(field).flatMap((member) => fieldRows(member, `${path}.`))];
}

const fieldRow = (path: string, field: JsonSchema, isRequired: boolean): Row => [
  fieldName(path, isRequired),
  viewType(field),
  viewDescription(field),
];

export const fieldName = (name: string, isRequired: boolean): Html =>
  html`${code(name)}${isRequired ? html` <span class="required">required</span>` : ""}`;

const memberTypes = ({ anyOf, oneOf }: JsonSchema): JsonSchema[] =>
  [...(anyOf ?? []), ...(oneOf ?? [])].filter(isSchema);

/** Maximum number of values that the type shows. More values are part of the description. */
const FEW = 4;

/** The type as text. */
export function viewType(schema: JsonSchema): Html {
  if (schema.$ref !== undefined) return schemaLink(nameOf(schema.$ref));
  const members = memberTypes(schema);
  if (members.length > 0) return html`${members.map((member, at) => html`${at > 0 ? " or " : ""}${viewType(member)}`)}`;
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum !== undefined && schema.enum.length <= FEW) return html`${codes(schema.enum.map(String))}`;
  if (schema.type === "array") return html`array of ${isSchema(schema.items) ? viewType(schema.items) : "anything"}`;
  if (schema.type === "object" && isSchema(schema.additionalProperties) && schema.properties === undefined) {
    const { additionalProperties: member } = schema;
    return Object.keys(member).length > 0 ? html`object of ${viewType(member)} by name` : html`object`;
  }
  const type = Array.isArray(schema.type) ? schema.type.join(" or ") : schema.type;
  return html`${type ?? "anything"}`;
}

/** The description, then the default and limits. */
export function viewDescription({ description = "", default: preset, ...schema }: JsonSchema): Html {
  const details = [
    preset === undefined || EMPTY.has(JSON.stringify(preset)) ? "" : `default \`${JSON.stringify(preset)}\``,
    range(schema.minimum, schema.maximum),
    schema.exclusiveMinimum === undefined ? "" : `more than ${schema.exclusiveMinimum}`,
    range(schema.minItems, schema.maxItems),
    schema.enum && schema.enum.length > FEW ? `one of ${schema.enum.map((value) => `\`${value}\``).join(", ")}` : "",
  ].filter((part) => part !== "" && !description.includes(part));
  return html`${prose([description, details.join(", ")].filter((part) => part !== "").join(" — "))}`;
}

/** Default values that the description omits. */
const EMPTY: ReadonlySet<string> = new Set(['""', "[]", "{}"]);

function range(least: number | undefined, most: number | undefined): string {
  if (least !== undefined && most !== undefined) return `${least} to ${most}`;
  if (least !== undefined) return `at least ${least}`;
  return most === undefined ? "" : `at most ${most}`;
}

type Schemas = Readonly<Record<string, JsonSchema>>;

/** Named schemas, each under its own heading. */
export const schemaSections = (schemas: Schemas, titled: Readonly<Record<string, string>>): Html[] =>
  Object.entries(titled).map(([name, title]) =>
    section(3, schemaAnchor(name), title, viewSchema(name, schemas[name] ?? {})),
  );

/** The schemas of a union, collapsed, with the distinguishing field as the title. Links to them expand them. */
export const foldedMembers = (schemas: Schemas, union: string): Html[] =>
  foldedSchemas(schemas, memberNames(schemas[union]), (schema) => {
    const tag = ["service", "type"].find((name) => schema.properties?.[name] !== undefined);
    const value = tag === undefined ? undefined : schema.properties?.[tag];
    if (!isSchema(value)) return html`${code("url")} ${prose(schema.description ?? "")}`;
    const meaning = schema.description ?? value.description ?? "";
    return html`${code(`"${tag}": ${JSON.stringify(value.const)}`)} ${prose(meaning)}`;
  });

/** Named schemas, collapsed. */
export const foldedSchemas = (
  schemas: Schemas,
  names: readonly string[],
  titleOf: (schema: JsonSchema, name: string) => Html,
): Html[] =>
  names.map((name) => {
    const schema = schemas[name] ?? {};
    return html`<details><summary>${titleOf(schema, name)}</summary>
<div id="${schemaAnchor(name)}">${viewInside(name, schema)}</div></details>\n`;
  });

/** The names of the schemas of a union. */
export const memberNames = (union: JsonSchema | undefined): string[] =>
  memberTypes(union ?? {}).flatMap(({ $ref }) => ($ref === undefined ? [] : [nameOf($ref)]));
