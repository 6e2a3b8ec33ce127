// The pages of the API reference in Markdown, from the OpenAPI document and tables of the code.
import { ERRORS } from "#shared/errors.ts";
import { type OpenApiDocument, openApiDocument } from "../openapi/document.ts";
import type { ContentObject, OperationObject, ParameterObject, ResponseObject } from "../openapi/paths.ts";
import {
  INPUT_STATUS_DESCRIPTIONS,
  JOB_STATUS_DESCRIPTIONS,
  OUTPUT_STATUS_DESCRIPTIONS,
} from "../openapi/status-descriptions.ts";
import { formatsPage } from "./formats-page.ts";
import { printJson } from "./print-json.ts";
import { describe, schemasPage, table, typeOf } from "./schemas-page.ts";

/** Stands for the service's origin in all pages (worker/http/pages/docs.ts). */
const ORIGIN = "https://copra.example.com";

/** The OpenAPI document, and Markdown pages by their paths below docs/. */
export function reference(): { readonly openapi: string; readonly pages: Readonly<Record<string, string>> } {
  const document = openApiDocument();
  const tags = document.tags.map(({ name, description }) => [
    `reference/${name.toLowerCase()}`,
    [`# API: ${name}`, description, ...operationsOf(document, name).map(operationSection)].join("\n\n"),
  ]);
  return {
    openapi: JSON.stringify(document),
    pages: {
      reference: overview(document),
      ...Object.fromEntries(tags),
      "reference/formats": formatsPage(),
      "reference/schemas": schemasPage(document.components.schemas),
      "reference/errors": errorsPage(),
    },
  };
}

type Located = { readonly path: string; readonly method: string; readonly operation: OperationObject };

const operationsOf = ({ paths }: OpenApiDocument, tag: string): Located[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      operation.tags.some((name) => name === tag) ? [{ path, method, operation }] : [],
    ),
  );

const overview = (document: OpenApiDocument): string => `# API reference

${document.info.description} The whole API for programs: [openapi.json](/v2/openapi.json) (OpenAPI 3.1).

## Authentication

The samples use these variables. Operations for the operator use the admin token (\`ADMIN_TOKEN\`).

\`\`\`sh
export API=${ORIGIN} API_KEY=k-…
\`\`\`

Clients send the API key as the user name of HTTP Basic authentication, with an empty password. The operator sends
\`Authorization: Bearer <token>\`. Without valid credentials, the response is 401. Beyond the rate limit of a key it is
429, and \`Retry-After\` is the number of seconds to wait.

## Operations

${table(
  ["Request", "Operation", "Access"],
  document.tags.flatMap(({ name }) =>
    operationsOf(document, name).map(({ path, method, operation }) => [
      `\`${method.toUpperCase()} ${path}\``,
      `[${operation.summary}](reference/${name.toLowerCase()}.md#${anchorOf(operation.summary)})`,
      accessOf(operation),
    ]),
  ),
)}

## Statuses

${table(
  ["Status", "Description"],
  Object.entries({ ...JOB_STATUS_DESCRIPTIONS, ...INPUT_STATUS_DESCRIPTIONS, ...OUTPUT_STATUS_DESCRIPTIONS }).map(
    ([status, text]) => [`\`${status}\``, text],
  ),
)}
`;

/** As idOf() in local/guides/render-guide.ts, for plain words. */
const anchorOf = (summary: string): string =>
  summary
    .toLowerCase()
    .replace(/[^\w -]/g, "")
    .replaceAll(" ", "-");

/** Names of the credentials, by security scheme. */
const ACCESS: Readonly<Record<string, string>> = {
  apiKey: "API key",
  adminToken: "admin token",
  metricsToken: "metrics token or admin token",
};

const schemeOf = ({ security }: OperationObject): string => Object.keys(security[0] ?? {})[0] ?? "";
const accessOf = (operation: OperationObject): string => ACCESS[schemeOf(operation)] ?? "public";

const operationSection = ({ path, method, operation }: Located): string =>
  [
    `## ${operation.summary}`,
    `\`${method.toUpperCase()} ${path}\` · ${accessOf(operation)}`,
    operation.description ?? "",
    ...samplesOf(path, method, operation),
    operation.requestBody ? `Request body: ${contentLink(operation.requestBody.content)}` : "",
    table(["Parameter", "In", "Type", "Description"], (operation.parameters ?? []).map(parameterRow)),
    ...Object.entries(operation.responses).map(([status, response]) => responseText(status, response)),
  ]
    .filter((text) => text !== "")
    .join("\n\n");

const parameterRow = ({ name, in: place, schema, description, required }: ParameterObject): string[] => [
  `\`${name}\`${required ? " (required)" : ""}`,
  place,
  typeOf(schema),
  describe({ ...schema, description }),
];

/** A command for each example of a body, or one command without a body. */
function samplesOf(path: string, method: string, operation: OperationObject): string[] {
  const bytes = Object.keys(operation.requestBody?.content ?? {}).some((type) => type !== "application/json");
  if (bytes || method === "head") return [];
  const parameters = new Map(operation.parameters?.map(({ name, example }) => [name, String(example)]));
  const url = `$API${path.replace(/\{(\w+)\}/g, (_, name: string) => parameters.get(name) ?? "1")}`;
  const scheme = schemeOf(operation);
  const credential =
    scheme === "apiKey" ? "-u $API_KEY: " : scheme === "" ? "" : '-H "Authorization: Bearer $ADMIN_TOKEN" ';
  const examples = Object.values(operation.requestBody?.content["application/json"]?.examples ?? {});
  const verb = method === (examples.length > 0 ? "post" : "get") ? "" : `-X ${method.toUpperCase()} `;
  const command = `curl ${credential}${verb}${url}`;
  if (examples.length === 0) return [fenced("sh", command)];
  return examples.map(({ summary, value }) =>
    [summary ?? "", fenced("sh", `${command} -d '${printJson(value).replaceAll("'", "\\u0027")}'`)].join("\n\n"),
  );
}

const fenced = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``;

function responseText(status: string, { description, content = {}, ...response }: ResponseObject): string {
  const codes = response["x-error-codes"];
  if (codes) return `${status}: ${codes.map((name) => `[\`${name}\`](errors.md)`).join(", ")}`;
  const examples = Object.values(content).flatMap(({ example, examples: named = {} }) => [
    ...(example === undefined ? [] : [example]),
    ...Object.values(named).map(({ value }) => value),
  ]);
  const exampleTexts = examples.map((value) =>
    typeof value === "string" ? fenced("", value) : fenced("json", printJson(value)),
  );
  const link = Object.keys(content).length > 0 ? `, ${contentLink(content)}` : "";
  return [`Response ${status}: ${description}${link}`, ...exampleTexts].join("\n\n");
}

function contentLink(content: ContentObject): string {
  const [[mediaType, { schema }] = ["", {}]] = Object.entries(content);
  return schema?.$ref === undefined ? `\`${mediaType}\`` : typeOf(schema);
}

const errorsPage = (): string => `# API: errors

Error responses have a JSON body with \`message\`, a sentence for people that may change, and \`error_code\`, which does
not change. Failed inputs and outputs have \`error\` and \`error_code\`. [Troubleshooting](../troubleshooting.md) explains
causes.

${table(
  ["error_code", "HTTP", "Retried", "Description"],
  Object.entries(ERRORS).map(([name, { http, retry, description }]) => [
    `\`${name}\``,
    http === null ? "–" : String(http),
    http === null && retry === "now" ? "yes" : "",
    description,
  ]),
)}
`;
