// The state that `npm run deploy` keeps of a service on Cloudflare, which shows no secret again: .wrangler/copra.json.
import { join } from "node:path";
import * as z from "zod";
import { ROOT } from "../home/constants.ts";
import { readPrivateJson, writePrivateJson } from "../home/private-file.ts";

const Service = z.object({
  /** The URL of the service. */
  url: z.string().optional(),
  /** Secrets of the Worker that a deploy made or got from its environment, by their names. */
  secrets: z.record(z.string(), z.string()),
  /** Access data of the first account, and the first node token. */
  access: z
    .object({ accountId: z.string(), apiKey: z.string(), webhookSecret: z.string(), nodeToken: z.string() })
    .partial(),
});
export type Service = z.infer<typeof Service>;

/** Services by the name of the Worker. */
const State = z.object({ services: z.record(z.string(), Service) });

export const STATE_FILE = join(ROOT, ".wrangler", "copra.json");

const servicesIn = (file: string): Record<string, Service> => readPrivateJson(file, State)?.services ?? {};

/** The state of a service. Throws a message for people if the file is damaged. */
export const readService = (name: string, file: string = STATE_FILE): Service =>
  servicesIn(file)[name] ?? { secrets: {}, access: {} };

/** All services that were deployed from this checkout. */
export const readServices = (file: string = STATE_FILE): Service[] => Object.values(servicesIn(file));

/** Stores the state of a service. Only the file's owner can read it. */
export const writeService = (name: string, service: Service, file: string = STATE_FILE): void =>
  writePrivateJson(file, { services: { ...servicesIn(file), [name]: service } });
