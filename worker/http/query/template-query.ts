// The query of PUT /v2/templates/:name.
import * as z from "zod";

export const PutTemplateParameters = z.object({
  keep_secrets: z
    .enum(["true", "false"], "must be true or false")
    .default("false")
    .transform((text) => text === "true")
    .describe(
      "`true` keeps the secrets of the newest version that the body lacks, for the same service, bucket and host: for a body from `GET`",
    ),
});
