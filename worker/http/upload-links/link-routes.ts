// /v2/links/:token: the URL of an upload link, for the browser that sends its file. /tus: clients of tus 1.0.0.
import { type Context, Hono } from "hono";
import { UploadBody } from "#shared/api/uploads.ts";
import { readBody } from "../body/read-body.ts";
import { jsonResponse } from "../responses/json-response.ts";
import { partAt, takePart, viewUpload } from "../uploads/upload-parts.ts";
import { completeFile, fileOf, removeFile, startFile } from "./link-file.ts";
import { type LinkEnv, linkGuard } from "./link-guard.ts";
import { tus } from "./tus.ts";

type LinkContext = Context<LinkEnv>;

export const links = new Hono<LinkEnv>({ strict: false })
  .use("/:token/*", linkGuard)
  .route("/:token/tus", tus)
  .post("/:token", async (context) => {
    const file = await readBody(context.req, UploadBody, "request_not_valid");
    const { upload, isNew } = await startFile(context.env, context.get("link"), file);
    return jsonResponse(context, await viewUpload(context.env, upload), isNew ? 201 : 200);
  })
  .get("/:token", async (context) => jsonResponse(context, await viewUpload(context.env, await ownFile(context))))
  .put("/:token/parts/:number", async (context) => {
    const upload = await ownFile(context);
    const part = partAt(context.req.param("number"), upload);
    return jsonResponse(context, await takePart(context.env, upload, part, context.req.raw));
  })
  .post("/:token/complete", async (context) => {
    const completed = await completeFile(context.env, context.get("link"), await ownFile(context));
    return jsonResponse(context, await viewUpload(context.env, completed));
  })
  .delete("/:token", async (context) => {
    const upload = await ownFile(context);
    const view = await viewUpload(context.env, upload);
    await removeFile(context.env, context.get("link"), upload);
    return jsonResponse(context, view);
  });

const ownFile = (context: LinkContext) => fileOf(context.env, context.get("link"));
