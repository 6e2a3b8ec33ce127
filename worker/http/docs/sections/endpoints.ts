// All operations of the document, then the schemas that no other section shows.
import type {
  ContentObject,
  OpenApiDocument,
  OperationObject,
  ParameterObject,
  RequestBodyObject,
  ResponseObject,
} from "../../openapi/document-shape.ts";
import { block, code, errorAnchor, type Html, html, json, prose, section, table } from "../markup.ts";
import { fieldName, foldedSchemas, schemaLink, viewDescription, viewType } from "../schema-view.ts";

export const endpoints = ({ paths, tags }: OpenApiDocument): Html =>
  section(
    2,
    "endpoints",
    "Endpoints",
    html`<p>Responses are JSON unless stated otherwise. Trailing slashes are ignored. For a method that a path does not support,
the response is 405.</p>`,
    tags.map(
      ({ name, description }) =>
        html`<h3 class="tag" id="tag-${name}">${name}</h3><p>${description}</p>${Object.entries(paths).flatMap(
          ([path, methods]) =>
            Object.entries(methods)
              .filter(([, operation]) => operation.tags.includes(name))
              .map(([method, operation]) => viewOperation(path, method, operation)),
        )}`,
    ),
  );

export const schemas = ({ components }: OpenApiDocument, shown: ReadonlySet<string>): Html => {
  const rest = Object.keys(components.schemas).filter((name) => !shown.has(name));
  return section(
    2,
    "schemas",
    "Schemas",
    foldedSchemas(components.schemas, rest, ({ description = "" }, name) => html`${code(name)} ${prose(description)}`),
  );
};

/** Names of the credentials, by security scheme. */
const ACCESS: Readonly<Record<string, string>> = {
  apiKey: "API key",
  adminToken: "admin token",
  metricsToken: "metrics token or admin token",
};

/** A section with the parameters, the body and the responses of an operation. */
function viewOperation(path: string, method: string, operation: OperationObject): Html {
  const title = html`<span class="method ${method}">${method.toUpperCase()}</span> <span class="path">${path}</span>`;
  const [scheme = ""] = operation.security.flatMap((need) => Object.keys(need));
  return section(
    3,
    operation.operationId,
    title,
    html`<p><strong>${operation.summary}.</strong> ${prose(operation.description ?? "")} <span class="access">${
      ACCESS[scheme] ? `Requires the ${ACCESS[scheme]}.` : "Public."
    }</span></p>`,
    operation.parameters ? viewParameters(operation.summary, operation.parameters) : "",
    operation.requestBody ? viewBody(operation.requestBody) : "",
    viewResponses(operation.responses),
  );
}

const viewParameters = (summary: string, parameters: readonly ParameterObject[]): Html =>
  table(
    `Parameters: ${summary}`,
    ["Parameter", "In", "Type", "Description"],
    parameters.map(({ name, in: place, schema, description, required }) => [
      fieldName(name, required),
      place,
      viewType(schema),
      viewDescription({ ...schema, description }),
    ]),
  );

const viewBody = ({ content }: RequestBodyObject): Html =>
  html`<p class="label">Request body: ${schemaOf(content)}</p>${examplesOf(content, "Request")}`;

function viewResponses(responses: OperationObject["responses"]): Html {
  const entries = Object.entries(responses);
  const good = entries.filter(([status]) => status < "400");
  const bad = entries.filter(([status]) => status >= "400");
  return html`${good.map(([status, response]) => viewSuccess(status, response))}
<p class="errors">Errors: ${bad.map(([status, response]) => html`<span>${status} ${codesOf(response)}</span> `)}</p>`;
}

const viewSuccess = (status: string, { description, content = {} }: ResponseObject): Html =>
  html`<p class="label">Response ${code(status)}: ${prose(description)}${
    Object.keys(content).length > 0 ? html`, ${schemaOf(content)}` : ""
  }</p>${examplesOf(content, `Response ${status}`)}`;

/** The codes of an error response, linked to the error table. */
const codesOf = ({ "x-error-codes": names = [] }: ResponseObject): Html[] =>
  names.map((name, at) => html`${at > 0 ? ", " : ""}<a href="#${errorAnchor(name)}">${code(name)}</a>`);

function schemaOf(content: ContentObject): Html {
  const [[mediaType, { schema }] = ["", {}]] = Object.entries(content);
  const name = schema?.$ref?.split("/").at(-1);
  return name === undefined ? code(mediaType) : schemaLink(name);
}

function examplesOf(content: ContentObject, label: string): Html[] {
  return Object.values(content).flatMap(({ example, examples = {} }) => [
    ...(typeof example === "string" ? [block(example, `${label} example`)] : []),
    ...Object.values(examples).map(({ summary, value }) =>
      summary === undefined
        ? json(value, `${label} example`)
        : html`<details open><summary>${summary}</summary>${json(value, `${label} example: ${summary}`)}</details>`,
    ),
  ]);
}
