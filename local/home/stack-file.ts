// $COPRA_HOME/stack.json: URLs, credentials and pids of a running stack, for tests and other tools.
import { rmSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { LocalStack } from "../../cli/connection/target.ts";
import { readPrivateJson, writePrivateJson } from "./private-file.ts";

/** The data that commands need, and more; `api` is the URL of the API, with `/v2`. */
export const StackFile = LocalStack.extend({
  nodeToken: z.string(),
  /** `s3` is 0 if there is no S3 server. */
  pids: z.object({ controlPlane: z.int(), s3: z.int(), nodes: z.array(z.int()) }),
});
export type StackFile = z.infer<typeof StackFile>;

const fileIn = (home: string): string => join(home, "stack.json");

export const readStackFile = (home: string): StackFile | null => readPrivateJson(fileIn(home), StackFile);
export const writeStackFile = (home: string, stack: StackFile): void => writePrivateJson(fileIn(home), stack);
export const removeStackFile = (home: string): void => rmSync(fileIn(home), { force: true });
