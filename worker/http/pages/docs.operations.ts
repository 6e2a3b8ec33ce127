// /v2/openapi.json and /docs.
import { operations } from "../operation/operation.ts";

export const DOCS_OPERATIONS = operations({ tag: "Service", access: "anyone" })({
  openapi: {
    route: "GET /v2/openapi.json",
    summary: "This document",
    responses: [{ status: 200, description: "OpenAPI 3.1", content: { mediaType: "application/json" } }],
  },
  docs: {
    route: "GET /docs",
    summary: "The documentation",
    responses: [{ status: 200, description: "An HTML page", content: { mediaType: "text/html" } }],
  },
});
