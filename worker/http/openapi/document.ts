// The OpenAPI document, created once from the tables and schemas of the service.

import { TAGS } from "../operation/operation.ts";
import { componentSchemas } from "./components.ts";
import type { JsonSchema } from "./json-schema.ts";
import { OPERATIONS } from "./operations.ts";
import { type Paths, viewPaths } from "./paths.ts";
import { viewWebhooks } from "./webhooks.ts";

export const SECURITY_SCHEMES = {
  apiKey: { type: "http", scheme: "basic", description: "The API key as the user name, with an empty password." },
  adminToken: {
    type: "http",
    scheme: "bearer",
    description:
      "The token of the operator. With the header `Copra-Account: <account id>` it acts for this account in the " +
      "operations that need an API key.",
  },
  metricsToken: {
    type: "http",
    scheme: "bearer",
    description: "The token of the operator's monitoring (METRICS_TOKEN).",
  },
  session: {
    type: "apiKey",
    in: "cookie",
    name: "__Host-copra",
    description:
      "The session of a browser (`POST /v2/session`), with the rights of its API key or admin token. Requests that " +
      "change something must come from a page of the service.",
  },
} as const;

/** The parts that the pages of the reference read. */
export type OpenApiDocument = Readonly<Record<string, unknown>> & {
  readonly info: Readonly<Record<"title" | "version" | "description", string>>;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Paths;
  readonly components: { readonly securitySchemes: object; readonly schemas: Readonly<Record<string, JsonSchema>> };
};

function makeDocument(): OpenApiDocument {
  return {
    openapi: "3.1.1",
    info: {
      title: "Copra",
      version: "2",
      description:
        "A media encoding service. A job has an input, outputs, a storage for the outputs, and a notification. " +
        "An output that fails does not affect the others.",
    },
    externalDocs: { description: "Documentation", url: "/docs" },
    servers: [{ url: "/" }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: viewPaths(OPERATIONS),
    webhooks: viewWebhooks(),
    components: { securitySchemes: SECURITY_SCHEMES, schemas: componentSchemas() },
  };
}

let built: OpenApiDocument | null = null;

/** The document, equal for all clients. */
export function openApiDocument(): OpenApiDocument {
  built ??= makeDocument();
  return built;
}
