// The state that `npm run deploy` keeps of a service on Cloudflare, which shows no secret again: .wrangler/copra.json.
import { join } from "node:path";
import * as z from "zod";
import { ROOT } from "../home/constants.ts";
import { readPrivateJson, writePrivateJson } from "../home/private-file.ts";

const Service = z.object({
  /** The URL of the service. */
  url: z.string().optional(),
  databaseId: z.string().optional(),
  /** Secrets that a deploy made or asked for, by their names. */
  secrets: z.record(z.string(), z.string()).default({}),
  /** Secrets whose value in `secrets` the Worker may lack, because a deploy was interrupted. */
  pending: z.array(z.string()).readonly().default([]),
  /** Master secrets that are no longer in use. Data that was not sealed again needs them. */
  dropped: z.array(z.string()).readonly().default([]),
  /** Access data of the first account, and the first node token. */
  access: z
    .object({ accountId: z.string(), apiKey: z.string(), webhookSecret: z.string(), nodeToken: z.string() })
    .partial()
    .default({}),
});
export type Service = z.infer<typeof Service>;

/** Services by account and name of the Worker. */
const State = z.object({ services: z.record(z.string(), Service).default({}) });

export const STATE_FILE = join(ROOT, ".wrangler", "copra.json");

export const NEW_SERVICE: Service = { secrets: {}, pending: [], dropped: [], access: {} };

/** The state of a service. Throws a message for people if the file is damaged. */
export const readService = (key: string, file: string = STATE_FILE): Service =>
  readPrivateJson(file, State)?.services[key] ?? NEW_SERVICE;

/** All services that were deployed from this checkout. */
export const readServices = (file: string = STATE_FILE): Service[] =>
  Object.values(readPrivateJson(file, State)?.services ?? {});

/** Stores the state of a service. Only the file's owner can read it. */
export function writeService(key: string, service: Service, file: string = STATE_FILE): void {
  const services = readPrivateJson(file, State)?.services ?? {};
  writePrivateJson(file, { services: { ...services, [key]: service } });
}
