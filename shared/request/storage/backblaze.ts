// Buckets of Backblaze B2, identified by their ids. When a job is created, the service requests the rest from
// Backblaze.
import * as z from "zod";
import { ok } from "../../result.ts";
import { strictObject } from "../../strict-object.ts";
import { text } from "../parse-section.ts";
import { credentialPair } from "./credentials.ts";
import { folder, objectKey } from "./folder.ts";
import { OPTION_FIELDS, objectOptions, oneOf, secure } from "./object-options.ts";
import { inputService, storageService } from "./storage-service.ts";

const PAIR = credentialPair("app_key_id", "app_key");
const bucketIdField = text(64, ": the id of the bucket, 24 letters and digits")
  .regex(/^[0-9a-z]+$/i, "must be the id of a bucket, not its name")
  .describe("The id of an existing bucket");

export const backblazeInput = inputService({
  body: strictObject({
    service: z.literal("backblaze"),
    credentials: PAIR.body,
    bucket_id: bucketIdField,
    key: objectKey,
  }).describe("A file in a bucket of Backblaze B2"),
  parseKeys: (value) => PAIR.parse("input", value),
  toObject: ({ bucket_id: bucketId, key }) => ok({ kind: "backblaze", bucketId, key }),
});

export const backblaze = storageService({
  body: strictObject({
    service: z.literal("backblaze"),
    credentials: PAIR.body,
    bucket_id: bucketIdField,
    path: folder,
    secure,
    ...OPTION_FIELDS,
    acl: oneOf("private", "public-read").describe("Must be the ACL of the bucket"),
  }).describe("A bucket of Backblaze B2"),
  parseKeys: (value) => PAIR.parse("storage", value),
  toStorage: ({ bucket_id: bucketId, path, secure, ...options }) =>
    ok({ kind: "backblaze", bucketId, path, options: objectOptions(options), secure }),
});
