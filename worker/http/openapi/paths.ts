// Converts the operations to the `paths` of OpenAPI.
import { ERRORS } from "#shared/errors.ts";
import { neededScopes } from "../auth/scopes.ts";
import type {
  ContentObject,
  ExampleObject,
  OperationObject,
  ParameterObject,
  Paths,
  ResponseObject,
} from "./document-shape.ts";
import { type JsonSchema, jsonSchema, schemaRef } from "./json-schema.ts";
import type { Access, Content, Operation, Parameter } from "./operation.ts";

type Code = keyof typeof ERRORS;

const WITH_CREDENTIAL: readonly Code[] = [
  "authentication_failed",
  "cross_site_request",
  "rate_limited",
  "internal_error",
  "service_unavailable",
];

/** Error codes of all operations with the same access. */
export const COMMON_CODES: Readonly<Record<Access, readonly Code[]>> = {
  anyone: ["internal_error", "service_unavailable"],
  client: [...WITH_CREDENTIAL, "scope_missing"],
  operator: WITH_CREDENTIAL,
  monitor: WITH_CREDENTIAL,
  session: WITH_CREDENTIAL,
};

/** Names of the document's security schemes; none: public. */
const SECURITY: Readonly<Record<Access, readonly string[]>> = {
  anyone: [],
  client: ["apiKey", "session"],
  operator: ["adminToken", "session"],
  monitor: ["metricsToken", "adminToken", "session"],
  session: ["apiKey", "adminToken", "session"],
};

/** `/v2/jobs/:id` → `/v2/jobs/{id}`. */
export const templatePath = (path: string): string => path.replace(/:(\w+)/g, "{$1}");

export function viewPaths(operations: readonly Operation[]): Paths {
  const paths: Record<string, Record<string, OperationObject>> = {};
  for (const operation of operations) {
    const path = templatePath(operation.path);
    paths[path] = { ...paths[path], [operation.method]: viewOperation(operation) };
  }
  return paths;
}

/** A sentence about the scopes that an API key with scopes needs. */
function scopeText(method: string, path: string): string {
  const needed = neededScopes(method.toUpperCase().replace("HEAD", "GET"), path);
  if (needed === null) return "";
  if (needed === "unrestricted") return "Not for API keys with scopes.";
  if (needed === "job") {
    return "An API key with scopes needs `jobs:create`, or `templates:use` for a body of `template` and `vars`.";
  }
  return `An API key with scopes needs ${needed.map((scope) => `\`${scope}\``).join(" and ")}.`;
}

function viewOperation({
  id,
  tag,
  summary,
  description = "",
  access,
  parameters,
  body,
  bytes,
  responses: declared,
  ...rest
}: Operation): OperationObject {
  const about = [description, scopeText(rest.method, rest.path)].filter(Boolean).join("\n\n");
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(about ? { description: about } : {}),
    security: SECURITY[access].map((scheme) => ({ [scheme]: [] })),
    ...(parameters ? { parameters: parameters.map(viewParameter) } : {}),
    ...(body
      ? {
          requestBody: {
            required: body.isOptional !== true,
            content: jsonContent({ $ref: schemaRef(body.json) }, body.examples),
          },
        }
      : {}),
    ...(bytes ? { requestBody: { required: true, content: { "application/octet-stream": {} } } } : {}),
    responses: { ...successes({ declared }), ...failures(rest, access) },
  };
}

function viewParameter({ name, in: place, description, required, schema, example, style }: Parameter): ParameterObject {
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

const jsonContent = (schema: JsonSchema, examples: Readonly<Record<string, ExampleObject>>): ContentObject => ({
  "application/json": { schema, examples },
});

type Responses = Record<string, ResponseObject>;

function successes({ declared }: { readonly declared: Operation["responses"] }): Responses {
  const views = declared.map(({ status, description, content }) => {
    return [String(status), { description, ...(content ? { content: viewContent(content) } : {}) }] as const;
  });
  return Object.fromEntries(views);
}

function viewContent(content: Content): ContentObject {
  if ("json" in content)
    return jsonContent({ $ref: schemaRef(content.json) }, { response: { value: content.example } });
  return { [content.mediaType]: { ...(content.example === undefined ? {} : { example: content.example }) } };
}

/** A response for each HTTP status of the error codes. */
function failures({ codes, method }: Pick<Operation, "codes" | "method">, access: Access): Responses {
  const byStatus = new Map<number, Code[]>();
  for (const code of [...codes, ...COMMON_CODES[access]]) {
    const status = ERRORS[code].http;
    if (status !== null) byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const views = [...byStatus].map(
    ([status, ofStatus]) => [String(status), viewFailure(status, ofStatus, method)] as const,
  );
  return Object.fromEntries(views);
}

const FAILURE_HEADERS: ReadonlyMap<number, string> = new Map([
  [401, "WWW-Authenticate"],
  [429, "Retry-After"],
  [503, "Retry-After"],
]);

function viewFailure(status: number, codes: readonly Code[], method: Operation["method"]): ResponseObject {
  const header = FAILURE_HEADERS.get(status);
  return {
    description: codes.map((code) => `- \`${code}\`: ${ERRORS[code].description}`).join("\n"),
    "x-error-codes": codes,
    ...(header ? { headers: { [header]: { schema: { type: "string" } } } } : {}),
    // Responses to HEAD have no body.
    ...(method === "head" ? {} : { content: { "application/json": { schema: { $ref: schemaRef("Error") } } } }),
  };
}
