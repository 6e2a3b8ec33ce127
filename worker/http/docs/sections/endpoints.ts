// All operations of the document, then the schemas that no other section shows.
import type { OpenApiDocument } from "../../openapi/document-shape.ts";
import { code, type Html, html, prose, section } from "../markup.ts";
import { viewOperation } from "../operation-view.ts";
import { foldedSchemas } from "../schema-view.ts";

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
