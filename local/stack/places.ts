// Names and addresses that more than one part of the local system has to agree on.
import { fileURLToPath } from "node:url";

export const BUCKET = "copra";
/** Where the chunks of films lie until they are joined. */
export const SCRATCH_BUCKET = "copra-scratch";
export const S3_REGION = "us-east-1";

/** The repository. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export const origin = (port: number): string => `http://127.0.0.1:${port}`;
