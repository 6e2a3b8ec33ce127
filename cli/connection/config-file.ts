// config.json: the profiles that `copra login` stores.
import { join } from "node:path";
import * as z from "zod";
import { type Env, folderOf } from "./folders.ts";
import { readJsonFile, writeJsonFile } from "./private-json.ts";

export const Profile = z.object({
  /** URL of the service without `/v2`. */
  url: z.string(),
  key: z.string().optional(),
  admin_token: z.string().optional(),
});
export type Profile = z.infer<typeof Profile>;

const ConfigFile = z.object({
  /** Name of the profile to use if no option or variable names a profile. */
  current: z.string().nullable().default(null),
  profiles: z.record(z.string(), Profile).default({}),
});
export type ConfigFile = z.infer<typeof ConfigFile>;

export const configPath = (env: Env): string => join(folderOf("config", env), "config.json");

/** Reads the stored profiles. Returns no profiles if there is no file. */
export const readConfig = (env: Env): ConfigFile =>
  readJsonFile(configPath(env), ConfigFile) ?? { current: null, profiles: {} };

export const writeConfig = (env: Env, config: ConfigFile): void => writeJsonFile(configPath(env), config);

/** Adds or replaces a profile and makes it current. */
export const withProfile = ({ profiles }: ConfigFile, name: string, profile: Profile): ConfigFile => ({
  current: name,
  profiles: { ...profiles, [name]: profile },
});

/** Removes a profile. If it was current, the first remaining profile becomes current. */
export function withoutProfile({ current, profiles }: ConfigFile, name: string): ConfigFile {
  const { [name]: _removed, ...rest } = profiles;
  return { current: current === name ? (Object.keys(rest)[0] ?? null) : current, profiles: rest };
}
