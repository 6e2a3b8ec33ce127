import { inject } from "vitest";

const { endpoint, accessKeyId, secretAccessKey } = inject("s3");

/** The `storage` of a job that stores its outputs on the tests' S3 server. */
export const S3_STORAGE = {
  service: "s3other",
  endpoint,
  bucket: "copra",
  region: "us-east-1",
  force_path_style: true,
  credentials: { access_key_id: accessKeyId, secret_access_key: secretAccessKey },
};
