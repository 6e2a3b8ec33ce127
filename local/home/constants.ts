// Bucket names, the repository's folder and other constants of the local system.
import { fileURLToPath } from "node:url";

export const BUCKET = "copra";
/** Holds the chunks of ultrafast jobs until they are joined. */
export const SCRATCH_BUCKET = "copra-scratch";
export const S3_REGION = "us-east-1";

/** Absolute path of the repository. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export const origin = (port: number): string => `http://127.0.0.1:${port}`;
