// Signs webhooks that the command line forwards (standardwebhooks.com), with a permanent secret of this machine.
import { createHmac, randomBytes } from "node:crypto";
import { join } from "node:path";
import * as z from "zod";
import { type Env, folderOf } from "../connection/folders.ts";
import { readJsonFile, writeJsonFile } from "../connection/private-json.ts";

const SecretFile = z.object({ secret: z.string() });
const SECRET_BYTES = 32;

/** Returns the secret, `whsec_…`, and creates it on first use. The service's own secret never leaves the service. */
export function listenSecret(env: Env): string {
  const path = join(folderOf("state", env), "listen-secret.json");
  const stored = readJsonFile(path, SecretFile);
  if (stored) return stored.secret;
  const secret = `whsec_${randomBytes(SECRET_BYTES).toString("base64")}`;
  writeJsonFile(path, { secret });
  return secret;
}

/** Returns the headers of a webhook with this body. */
export function signedHeaders(id: string, body: string, secret: string, nowMs: number): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000));
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const mac = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${mac}`,
  };
}
