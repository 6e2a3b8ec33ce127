// GET /v2/metadata/jobs/:id and /v2/metadata/jobs/:id/:key.

import { type Context, Hono } from "hono";
import { AppError } from "#shared/errors.ts";
import { SOURCE_NAMES } from "#shared/job/metadata.ts";
import { jobOf } from "../../env.ts";
import { type ClientEnv, clientAuth } from "../auth/auth.ts";
import { JobMetadata, type KeyMetadata } from "../response-schemas.ts";
import { answer } from "../responses/problem.ts";
import { ownJob } from "./jobs.ts";

const Metadata = JobMetadata.shape.metadata;

export const metadata = new Hono<ClientEnv>({ strict: false })
  .use(clientAuth)
  .get("/:id", async (context) => {
    const id = context.req.param("id");
    return answer(context, { job_id: id, metadata: await metadataOf(context, id) } satisfies JobMetadata);
  })
  .get("/:id/:key{.+}", async (context) => {
    const id = context.req.param("id");
    const key = context.req.param("key").replace(/\/$/, "");
    const { input, outputs } = await metadataOf(context, id);
    const source = "streams" in input ? input : null;
    const named = () => outputs.find((output) => Object.hasOwn(output, key))?.[key];
    const found = SOURCE_NAMES.has(key) ? source : named();
    if (!found) {
      throw new AppError(
        "metadata_not_found",
        `The job has no metadata for \`${key}\`: no such key, not finished yet, or of a kind without metadata`,
      );
    }
    return answer(context, { job_id: id, metadata: { [key]: found } } satisfies KeyMetadata);
  });

async function metadataOf(context: Context<ClientEnv>, id: string): Promise<JobMetadata["metadata"]> {
  await ownJob(context, id);
  const known = await jobOf(context.env, id).metadata();
  if (!known.ok && known.code !== "job_not_found") throw new AppError(known.code, known.message);
  if (!known.ok) throw new AppError("metadata_not_found", "The metadata of this job is no longer kept");
  return Metadata.parse(JSON.parse(known.value));
}
