// Buckets of Backblaze B2, which are named by their ids; the rest is asked of Backblaze when the job is created.
import * as z from "zod";
import { strictObject } from "../../strict-object.ts";
import { text } from "../parse-section.ts";
import { credentialPair } from "./credentials.ts";
import { folder } from "./folder.ts";
import { OPTION_FIELDS, objectOptions, oneOf, secure } from "./object-options.ts";
import { storageService } from "./storage-service.ts";

const PAIR = credentialPair("app_key_id", "app_key");

export const backblaze = storageService({
  body: strictObject({
    service: z.literal("backblaze"),
    credentials: PAIR.body,
    bucket_id: text(64, ": the bucket's id, 24 letters and digits")
      .regex(/^[0-9a-z]+$/i, "must be a bucket's id, not its name")
      .describe("The id of the bucket, which must exist"),
    path: folder,
    secure,
    ...OPTION_FIELDS,
    acl: oneOf("private", "public-read").describe("Must be the bucket's own"),
  }).describe("A bucket of Backblaze B2"),
  parseKeys: (value) => PAIR.parse("storage", value),
  toStorage: ({ bucket_id: bucketId, path, secure, ...options }) => ({
    ok: true,
    value: { kind: "backblaze", bucketId, path, options: objectOptions(options), secure },
  }),
});
