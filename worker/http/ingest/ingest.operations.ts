// /v2/ingest: events of buckets.
import { IngestResult } from "#shared/api/templates.ts";
import { operations, pathParameter, success } from "../operation/operation.ts";

export const INGEST_OPERATIONS = operations({ tag: "Templates", access: "anyone" })({
  ingest: {
    route: "POST /v2/ingest/:template/:token",
    summary: "Deliver events of a bucket",
    description:
      "For object storages: events of Amazon S3 (direct, by SNS or EventBridge), Cloudflare R2, Google Cloud Storage (Pub/Sub " +
      "push) and Azure Event Grid. Each version of a created object becomes a job of the template, once.",
    path: [
      pathParameter("template", "The name of the template", "web"),
      pathParameter("token", "A token of the template", "D9mPzB1yPcQmZkWvG3a7Rr5nTq2x"),
    ],
    bytes: true,
    responses: [success(200, "The jobs", IngestResult)],
    codes: [
      "event_not_valid",
      "json_not_valid",
      "body_too_large",
      "authentication_failed",
      "rate_limited",
      "template_not_found",
      "template_vars_not_valid",
      "too_many_jobs",
      "sealing_key_missing",
    ],
  },
});
