// Chooses a command's service and credentials.
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
    /** Empty without an S3 server. */
    endpoint: z.string(),
    region: z.string(),
    bucket: z.string(),
    accessKeyId: z.string(),
    secretAccessKey: z.string(),
  }),
});
export type LocalStack = z.infer<typeof LocalStack>;

export type Target = {
  /** URL of the service without `/v2` and without a trailing slash. */
  readonly url: string;
  readonly key: string | null;
  readonly adminToken: string | null;
  /** Source of the target in words: `profile "eu"`. */
  readonly source: string;
  /** The local system of this machine, if it is the target. */
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

/** Returns the origin of a service from a URL with or without scheme and `/v2`. Throws a usage error. */
export function serviceUrl(text: string): string {
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|\/|$)/.test(text);
  const whole = /^[a-z]+:\/\//i.test(text) ? text : `${isLoopback ? "http" : "https"}://${text}`;
  if (!URL.canParse(whole) || !/^https?:/i.test(whole)) throw usageError(`"${text}" is not the URL of a service`);
  return whole.replace(/(?<!\/)\/+$/, "").replace(/\/v2$/, "");
}

export type Credentials = { readonly key: string | undefined; readonly adminToken: string | undefined };

/**
 * Returns the environment's credentials for a service. Returns none if COPRA_URL names a different service, so that no
 * key goes to the wrong service. Without COPRA_URL, they belong to the service that the command line names.
 */
export function environmentCredentials(url: string, env: Env): Credentials {
  const ofUrl = variable(env.COPRA_URL);
  if (ofUrl !== undefined && normalized(ofUrl) !== normalized(url)) return { key: undefined, adminToken: undefined };
  return { key: variable(env.COPRA_API_KEY), adminToken: variable(env.COPRA_ADMIN_TOKEN) };
}

const variable = (text: string | undefined): string | undefined => text?.trim() || undefined;
const normalized = (url: string): string => new URL(serviceUrl(url)).href;

/**
 * Finds the target of a command. Options and environment variables come first, then the profile, then the running local
 * system. Credentials of each source go only to the service that they belong to.
 */
export function findTarget(options: TargetOptions, env: Env): Target {
  return explicitTarget(options, env) ?? profileTarget(options, env) ?? localTarget(env) ?? fail(env);
}

function explicitTarget(options: TargetOptions, env: Env): Target | null {
  const fromOptions = options.url !== undefined || options.key !== undefined || options.adminToken !== undefined;
  // A profile named by an option takes precedence over environment variables.
  if (options.profile !== undefined && options.url === undefined) return null;
  const url = options.url ?? variable(env.COPRA_URL);
  if (url === undefined) {
    if (!fromOptions && !variable(env.COPRA_API_KEY) && !variable(env.COPRA_ADMIN_TOKEN)) return null;
    throw usageError("There is a key or token, but no URL: give --url or COPRA_URL, too");
  }
  const credentials = environmentCredentials(url, env);
  const { key = credentials.key ?? null, adminToken = credentials.adminToken ?? null } = options;
  return {
    url: serviceUrl(url),
    key,
    adminToken,
    source: fromOptions ? "the command line" : "the environment",
    local: null,
  };
}

function profileTarget(options: TargetOptions, env: Env): Target | null {
  const wanted = options.profile ?? variable(env.COPRA_PROFILE);
  const config = readConfig(env);
  const name = wanted ?? config.current;
  if (name === null) return null;
  const profile = Object.hasOwn(config.profiles, name) ? config.profiles[name] : undefined;
  if (!profile) {
    if (wanted === undefined) return null;
    throw usageError(`There is no profile "${name}"${knownProfiles(config)}`);
  }
  const { key = profile.key ?? null, adminToken = profile.admin_token ?? null } = options;
  const { url } = profile;
  return { url: serviceUrl(url), key, adminToken, source: `profile "${name}"`, local: null };
}

const knownProfiles = ({ profiles }: ConfigFile): string => {
  const names = Object.keys(profiles);
  return names.length > 0 ? `; there are: ${names.join(", ")}` : ". Create it with copra login --profile <name>";
};

function localTarget(env: Env): Target | null {
  const local = readLocalStack(env);
  if (!local) return null;
  const { api, apiKey: key, adminToken, s3 } = local;
  // A service with a bucket elsewhere for its chunks has no S3 server.
  const withBucket = s3.endpoint === "" ? null : local;
  return { url: serviceUrl(api), key, adminToken, source: `the local system in ${localHome(env)}`, local: withBucket };
}

function fail(env: Env): never {
  throw usageError(
    `There is no service to talk to. Run copra login <url>, or set COPRA_URL and COPRA_API_KEY, or start the local ` +
      `system with copra dev. If it runs, set COPRA_HOME to its folder: none runs in ${localHome(env)}`,
  );
}
