// The OpenAPI document: made once, of the tables and schemas that the service works with.
import { componentSchemas } from "./components.ts";
import type { OpenApiDocument } from "./document-shape.ts";
import { TAGS } from "./operation.ts";
import { OPERATIONS } from "./operations.ts";
import { viewPaths } from "./paths.ts";
import { viewWebhooks } from "./webhooks.ts";

export const SECURITY_SCHEMES = {
  apiKey: { type: "http", scheme: "basic", description: "The API key as the user name, an empty password." },
  adminToken: { type: "http", scheme: "bearer", description: "The operator's token." },
} as const;

function makeDocument(): OpenApiDocument {
  return {
    openapi: "3.1.1",
    info: {
      title: "Copra",
      version: "2",
      description:
        "A media encoding service. A job names an input, the outputs to make of it, a storage for them, and whom to tell. " +
        "Outputs that fail leave the others good.",
    },
    externalDocs: { description: "The same for people", url: "/docs" },
    servers: [{ url: "/" }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: viewPaths(OPERATIONS),
    webhooks: viewWebhooks(),
    components: { securitySchemes: SECURITY_SCHEMES, schemas: componentSchemas() },
  };
}

let made: OpenApiDocument | null = null;

/** The document, the same for everyone. */
export function openApiDocument(): OpenApiDocument {
  made ??= makeDocument();
  return made;
}
