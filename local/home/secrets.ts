// The secrets of a local system, generated at its first start and stored in its home folder.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import * as z from "zod";
import { randomText } from "#shared/ids.ts";
import { readPrivateJson, writePrivateJson } from "./private-file.ts";

export const Secrets = z.object({
  adminToken: z.string(),
  /** `<key id>:<base64 of 32 bytes>`: encrypts clients' storage credentials. */
  sealingKeys: z.string(),
  s3: z.object({ accessKeyId: z.string(), secretAccessKey: z.string() }),
  /** Created at the control plane after its first start. */
  access: z.object({ apiKey: z.string(), webhookSecret: z.string(), nodeToken: z.string() }).optional(),
});
export type Secrets = z.infer<typeof Secrets>;

const fileIn = (home: string): string => join(home, "secrets.json");

/** The secrets of the home folder. Generates them if there are none. */
export function loadSecrets(home: string): Secrets {
  const stored = readPrivateJson(fileIn(home), Secrets);
  if (stored) return stored;
  const generated = generateSecrets();
  saveSecrets(home, generated);
  return generated;
}

export const saveSecrets = (home: string, secrets: Secrets): void => writePrivateJson(fileIn(home), secrets);

function generateSecrets(): Secrets {
  const text = (length: number): string => randomText(length, randomBytes);
  return {
    adminToken: `a-${text(43)}`,
    sealingKeys: `local1:${randomBytes(32).toString("base64")}`,
    s3: { accessKeyId: `COPRA${text(15).toUpperCase()}`, secretAccessKey: text(40) },
  };
}
