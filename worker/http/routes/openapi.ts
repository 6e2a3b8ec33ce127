// GET /v2/openapi.json: the interface, for programs. Open to anyone, from any site.
import { Hono } from "hono";
import type { Env } from "../../env.ts";
import { openApiDocument } from "../openapi/document.ts";
import { answerPage, type FixedPage, fixedPage } from "../responses/fixed-page.ts";

let page: Promise<FixedPage> | null = null;

export const openapi = new Hono<{ Bindings: Env }>({ strict: false }).get("/", async (context) => {
  page ??= fixedPage(JSON.stringify(openApiDocument()), {
    "content-type": "application/json; charset=utf-8",
    "access-control-allow-origin": "*",
  });
  return answerPage(context, await page);
});
