// Bucket names, the repository's folder and other constants of the local system.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const BUCKET = "copra";
/** Holds the chunks of ultrafast jobs until they are joined. */
export const SCRATCH_BUCKET = "copra-scratch";
export const S3_REGION = "us-east-1";

/** Absolute path of the repository or of the npm package, which has the programs in the same places. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The command line as people call it here. */
export const COPRA_COMMAND = existsSync(join(ROOT, "package-lock.json")) ? "npm run copra --" : "npx --no copra";

/**
 * The file of a program. `source` is its TypeScript file, such as local/serve/serve.ts; the package has a bundle of it.
 */
export function programFile(source: string): string {
  const file = join(ROOT, source);
  return existsSync(file) ? file : file.replace(/\.ts$/, ".mjs");
}

export const origin = (port: number): string => `http://127.0.0.1:${port}`;
