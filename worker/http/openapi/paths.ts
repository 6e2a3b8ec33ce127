// Converts the operations to the `paths` of OpenAPI.
import type * as z from "zod";
import { ERRORS } from "#shared/errors.ts";
import { RESPONSE_EXAMPLES } from "../operation/examples/responses.ts";
import {
  type Access,
  type Code,
  type Content,
  isForKeys,
  type NamedSchema,
  type Operation,
  type Parameter,
  routeParts,
} from "../operation/operation.ts";
import { type JsonSchema, jsonSchema, nameOf, refTo, schemaRef } from "./json-schema.ts";

const WITH_CREDENTIAL: readonly Code[] = [
  "authentication_failed",
  "cross_site_request",
  "rate_limited",
  "internal_error",
  "service_unavailable",
];

/** All error codes of an operation. */
export const codesOf = ({ access, parameters = [], body, codes = [] }: Operation): readonly Code[] => [
  ...(body ? (["json_not_valid", body.code ?? "request_not_valid", "body_too_large"] as const) : []),
  ...(parameters.some((parameter) => parameter.in === "query") ? (["query_not_valid"] as const) : []),
  ...codes,
  ...(access === "anyone" ? (["internal_error", "service_unavailable"] as const) : WITH_CREDENTIAL),
  ...(isForKeys(access) ? (["scope_missing"] as const) : []),
];

/** Names of the document's security schemes; none: public. */
const SECURITY = {
  anyone: [],
  operator: ["adminToken", "session"],
  monitor: ["metricsToken", "adminToken", "session"],
  session: ["apiKey", "adminToken", "session"],
} as const;

const securityOf = (access: Access): readonly string[] =>
  isForKeys(access) ? ["apiKey", "session"] : SECURITY[access];

/** `/v2/jobs/:id` → `/v2/jobs/{id}`. */
export const templatePath = (path: string): string => path.replace(/:(\w+)(?:\{[^{}]*\})?/g, "{$1}");

/** Operations by path and method. */
export type Paths = Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;

export function viewPaths(operations: readonly Operation[]): Paths {
  const paths: Record<string, Record<string, OperationObject>> = {};
  for (const operation of operations) {
    const [method, path] = routeParts(operation.route);
    const template = templatePath(path);
    paths[template] = { ...paths[template], [method.toLowerCase()]: viewOperation(operation) };
  }
  return paths;
}

/** A sentence about the scopes that an API key with scopes needs. */
function scopeText(access: Access): string {
  if (!isForKeys(access)) return "";
  if (access === "unscoped-key") return "Not for API keys with scopes.";
  if (access === "job-key") {
    return "An API key with scopes needs `jobs:create`, or `templates:use` for a body of `template` and `vars`.";
  }
  return `An API key with scopes needs ${access.map((scope) => `\`${scope}\``).join(" and ")}.`;
}

export type OperationObject = ReturnType<typeof viewOperation>;

function viewOperation(operation: Operation) {
  const { id, tag, summary, description = "", access, path = [], parameters = [], body, bytes, responses } = operation;
  const template = templatePath(operation.route);
  const all = [...path.filter(({ name }) => template.includes(`{${name}}`)), ...parameters];
  const about = [description, scopeText(access)].filter(Boolean).join("\n\n");
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(about ? { description: about } : {}),
    security: securityOf(access).map((scheme) => ({ [scheme]: [] })),
    ...(all.length > 0 ? { parameters: all.map(viewParameter) } : {}),
    ...(body
      ? { requestBody: { required: body.isOptional !== true, content: jsonContent(body.json, body.examples) } }
      : {}),
    ...(bytes ? { requestBody: { required: true, content: { "application/octet-stream": {} } as ContentObject } } : {}),
    responses: { ...successes(responses), ...failures(operation) },
  };
}

export type ParameterObject = ReturnType<typeof viewParameter>;

function viewParameter({ name, in: place, description, required, schema, example, style }: Parameter) {
  const { description: _, ...shape } = jsonSchema(schema);
  return {
    name,
    in: place,
    description,
    required,
    schema: shape,
    ...(style ? { style, explode: true } : {}),
    ...(example === undefined ? {} : { example }),
  };
}

/** Content by media type. */
export type ContentObject = Readonly<Record<string, MediaTypeObject>>;

type MediaTypeObject = {
  readonly schema?: JsonSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly summary?: string; readonly value: unknown }>>;
};

/** `x-error-codes`: the possible values of `error_code`. */
export type ResponseObject = {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly schema: JsonSchema }>>;
  readonly content?: ContentObject;
  readonly "x-error-codes"?: readonly string[];
};

const jsonContent = (schema: NamedSchema, examples: MediaTypeObject["examples"] & {}): ContentObject => ({
  "application/json": { schema: refTo(schema), examples },
});

type Responses = Record<string, ResponseObject>;

const successes = (responses: Operation["responses"]): Responses =>
  Object.fromEntries(
    responses.map(({ status, description, content }) => [
      String(status),
      { description, ...(content ? { content: viewContent(content) } : {}) },
    ]),
  );

function viewContent(content: Content): ContentObject {
  if ("json" in content) return jsonContent(content.json, { response: { value: exampleOf(content) } });
  return { [content.mediaType]: { ...(content.example === undefined ? {} : { example: content.example }) } };
}

const EXAMPLES: ReadonlyMap<string, unknown> = new Map(Object.entries(RESPONSE_EXAMPLES));

/** The example of a JSON response. */
export const exampleOf = ({ json, example }: Extract<Content, { json: z.ZodType }>): unknown =>
  example ?? EXAMPLES.get(nameOf(json));

/** A response for each HTTP status of the error codes. */
function failures(operation: Operation): Responses {
  const [method] = routeParts(operation.route);
  const byStatus = Map.groupBy(codesOf(operation), (code) => ERRORS[code].http);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [String(status), viewFailure(status, codes, method)]),
  );
}

const FAILURE_HEADERS: ReadonlyMap<number | null, string> = new Map([
  [401, "WWW-Authenticate"],
  [429, "Retry-After"],
  [503, "Retry-After"],
]);

function viewFailure(status: number | null, codes: readonly Code[], method: string): ResponseObject {
  const header = FAILURE_HEADERS.get(status);
  return {
    description: codes.map((code) => `- \`${code}\`: ${ERRORS[code].description}`).join("\n"),
    "x-error-codes": codes,
    ...(header ? { headers: { [header]: { schema: { type: "string" } } } } : {}),
    // Responses to HEAD have no body.
    ...(method === "HEAD" ? {} : { content: { "application/json": { schema: { $ref: schemaRef("Error") } } } }),
  };
}
