// Which service a command talks to, and with which credentials.
import { join, resolve } from "node:path";
import * as z from "zod";
import { usageError } from "../exit.ts";
import { type ConfigFile, readConfig } from "./config-file.ts";
import type { Env } from "./folders.ts";
import { readJsonFile } from "./private-json.ts";

/** The part of the local system's stack.json that commands need. */
export const LocalStack = z.object({
  api: z.string(),
  apiKey: z.string(),
  adminToken: z.string(),
  s3: z.object({
    endpoint: z.string(),
    region: z.string(),
    bucket: z.string(),
    accessKeyId: z.string(),
    secretAccessKey: z.string(),
  }),
});
export type LocalStack = z.infer<typeof LocalStack>;

export type Target = {
  /** Of the service, without `/v2` and without a slash at its end. */
  readonly url: string;
  readonly key: string | null;
  readonly adminToken: string | null;
  /** Where this comes from, for people: `profile "eu"`. */
  readonly source: string;
  /** Set if it is the local system of this machine. */
  readonly local: LocalStack | null;
};

export type TargetOptions = {
  readonly url?: string | undefined;
  readonly key?: string | undefined;
  readonly adminToken?: string | undefined;
  readonly profile?: string | undefined;
};

/** The folder of the local system. */
export const localHome = (env: Env): string => resolve(env.COPRA_HOME?.trim() || ".copra");

export const readLocalStack = (env: Env): LocalStack | null =>
  readJsonFile(join(localHome(env), "stack.json"), LocalStack);

/** The origin of a service as people write it: with or without `/v2` and scheme. Throws a usage error. */
export function serviceUrl(text: string): string {
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|\/|$)/.test(text);
  const whole = /^[a-z]+:\/\//i.test(text) ? text : `${isLoopback ? "http" : "https"}://${text}`;
  if (!URL.canParse(whole) || !/^https?:/i.test(whole)) throw usageError(`"${text}" is not the URL of a service`);
  return whole.replace(/\/+$/, "").replace(/\/v2$/, "");
}

/**
 * The target of a command. Options and environment variables come first, then the profile, then the running local
 * system. URL and credentials come from the same place, so that no key goes to a service that it is not for.
 */
export function findTarget(options: TargetOptions, env: Env): Target {
  return explicitTarget(options, env) ?? profileTarget(options, env) ?? localTarget(env) ?? fail(env);
}

function explicitTarget(options: TargetOptions, env: Env): Target | null {
  const fromOptions = options.url !== undefined || options.key !== undefined || options.adminToken !== undefined;
  // A named profile is more specific than variables of the environment.
  if (options.profile !== undefined && !fromOptions) return null;
  const url = options.url ?? (env.COPRA_URL?.trim() || undefined);
  const key = options.key ?? (env.COPRA_API_KEY?.trim() || undefined);
  const adminToken = options.adminToken ?? (env.COPRA_ADMIN_TOKEN?.trim() || undefined);
  if (url === undefined && key === undefined && adminToken === undefined) return null;
  if (url === undefined) {
    throw usageError("There is a key or token, but no URL: give --url or COPRA_URL, too");
  }
  const source = fromOptions ? "the options" : "the environment";
  return { url: serviceUrl(url), key: key ?? null, adminToken: adminToken ?? null, source, local: null };
}

function profileTarget({ profile: named }: TargetOptions, env: Env): Target | null {
  const wanted = named ?? (env.COPRA_PROFILE?.trim() || undefined);
  const config = readConfig(env);
  const name = wanted ?? config.current;
  if (name === null) return null;
  const found = Object.hasOwn(config.profiles, name) ? config.profiles[name] : undefined;
  if (!found) {
    if (wanted === undefined) return null;
    throw usageError(`There is no profile "${name}"${knownProfiles(config)}`);
  }
  const { url, key = null, admin_token: adminToken = null } = found;
  return { url: serviceUrl(url), key, adminToken, source: `profile "${name}"`, local: null };
}

const knownProfiles = ({ profiles }: ConfigFile): string => {
  const names = Object.keys(profiles);
  return names.length > 0 ? `; there are: ${names.join(", ")}` : ". Create it with copra login --profile <name>";
};

function localTarget(env: Env): Target | null {
  const local = readLocalStack(env);
  if (!local) return null;
  const { api, apiKey: key, adminToken } = local;
  return { url: serviceUrl(api), key, adminToken, source: `the local system in ${localHome(env)}`, local };
}

function fail(env: Env): never {
  throw usageError(
    `There is no service to talk to. Run copra login <url>, or set COPRA_URL and COPRA_API_KEY, or start the local ` +
      `system with copra dev (none runs in ${localHome(env)})`,
  );
}
