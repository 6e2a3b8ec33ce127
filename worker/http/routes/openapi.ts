// GET /v2/openapi.json: the OpenAPI document. Public, for any origin.
import { Hono } from "hono";
import type { Env } from "../../bindings.ts";
import { openApiDocument } from "../openapi/document.ts";
import { type FixedPage, fixedPage, pageResponse } from "../responses/fixed-page.ts";

let page: Promise<FixedPage> | null = null;

export const openapi = new Hono<{ Bindings: Env }>({ strict: false }).get("/", async (context) => {
  page ??= fixedPage(JSON.stringify(openApiDocument()), {
    "content-type": "application/json; charset=utf-8",
    "access-control-allow-origin": "*",
  });
  return pageResponse(context, await page);
});
