// The secrets of one local system: made at its first start, kept in its home folder.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import * as z from "zod";
import { randomText } from "#shared/ids.ts";
import { readPrivateJson, writePrivateJson } from "./private-file.ts";

export const Secrets = z.object({
  adminToken: z.string(),
  /** Stirred into the stored hashes of keys, so that a stolen database cannot be searched for them. */
  keyPepper: z.string(),
  /** `<key id>:<base64 of 32 bytes>`: what clients' storage credentials are sealed with. */
  sealingKeys: z.string(),
  s3: z.object({ accessKeyId: z.string(), secretAccessKey: z.string() }),
  /** What the control plane handed out once, when it was first asked. */
  access: z.object({ apiKey: z.string(), webhookSecret: z.string(), nodeToken: z.string() }).optional(),
});
export type Secrets = z.infer<typeof Secrets>;

const fileIn = (home: string): string => join(home, "secrets.json");

/** The secrets of the home folder; makes them when there are none. */
export function loadSecrets(home: string): Secrets {
  const found = readPrivateJson(fileIn(home), Secrets);
  if (found) return found;
  const made = makeSecrets();
  saveSecrets(home, made);
  return made;
}

export const saveSecrets = (home: string, secrets: Secrets): void => writePrivateJson(fileIn(home), secrets);

function makeSecrets(): Secrets {
  const text = (length: number): string => randomText(length, randomBytes);
  return {
    adminToken: `a-${text(43)}`,
    keyPepper: text(43),
    sealingKeys: `local1:${randomBytes(32).toString("base64")}`,
    s3: { accessKeyId: `COPRA${text(15).toUpperCase()}`, secretAccessKey: text(40) },
  };
}
