// copra login, logout, whoami and profiles.
import { CopraAdmin } from "../../client/admin.ts";
import { Copra } from "../../client/index.ts";
import type { Run } from "../command-spec.ts";
import {
  configPath,
  type Profile,
  readConfig,
  withoutProfile,
  withProfile,
  writeConfig,
} from "../connection/config-file.ts";
import { namedFetch } from "../connection/named-fetch.ts";
import { environmentCredentials, serviceUrl } from "../connection/target.ts";
import { type Context, targetOf, textOption } from "../context.ts";
import { CommandError, EXIT, endOf, usageError } from "../exit.ts";
import { askSecret } from "../terminal/prompt.ts";
import { table } from "../terminal/table.ts";

const DEFAULT_PROFILE = "default";

export const login: Run = async (context, [argument], options) => {
  const { env, globals, output, input, signal } = context;
  const url = argument ?? textOption(globals, "url") ?? env.COPRA_URL;
  if (!url) throw usageError("Name the service: copra login https://encode.example.com");
  const service = serviceUrl(url);
  const name = textOption(globals, "profile") ?? DEFAULT_PROFILE;
  const credentials = environmentCredentials(url, env);
  const key = textOption(globals, "key") ?? credentials.key ?? (await askSecret(input, "API key: ", signal));
  const givenToken = textOption(globals, "adminToken") ?? credentials.adminToken;
  const typedToken = options.admin === true ? await askSecret(input, "Admin token: ", signal) : "";
  const token = givenToken ?? typedToken;
  if (key === "" && token === "") throw usageError("There is no API key: type it, or give it by standard input");
  const profile: Profile = {
    url: service,
    ...(key === "" ? {} : { key }),
    ...(token === "" ? {} : { admin_token: token }),
  };
  // Check first: a profile that does not work is not stored.
  await check(profile, signal);
  writeConfig(env, withProfile(readConfig(env), name, profile));
  output.data({ profile: name, url: service }, () => `Profile "${name}" for ${service}`);
  output.words(`Stored in ${configPath(env)}`);
};

/** Throws if the service does not accept the credentials. */
async function check({ url, key, admin_token: token }: Profile, signal: AbortSignal): Promise<void> {
  if (key !== undefined)
    await new Copra({ url, key, retries: 1, fetch: namedFetch }).jobs.page({ limit: 1 }, { signal });
  if (token !== undefined) await new CopraAdmin({ url, token, retries: 1, fetch: namedFetch }).nodes.list({ signal });
}

export const logout: Run = async ({ env, globals, output }) => {
  const config = readConfig(env);
  const name = textOption(globals, "profile") ?? config.current;
  if (name === null || !Object.hasOwn(config.profiles, name)) {
    throw new CommandError(EXIT.notFound, name === null ? "There is no profile" : `There is no profile "${name}"`);
  }
  writeConfig(env, withoutProfile(config, name));
  output.data({ profile: name, deleted: true }, () => `Profile "${name}" is deleted. Its key is still valid`);
};

export const whoami: Run = async (context) => {
  const { output, signal } = context;
  const { url, key, adminToken, source } = await targetOf(context);
  const checked = {
    url,
    source,
    key: key === null ? "none" : await validity({ url, key }, signal),
    admin_token: adminToken === null ? "none" : await validity({ url, admin_token: adminToken }, signal),
  };
  output.data(checked, () =>
    table([
      ["service", url],
      ["from", source],
      ["API key", checked.key],
      ["admin token", checked.admin_token],
    ]),
  );
  return checked.key === "not valid" || checked.admin_token === "not valid" ? EXIT.notAllowed : EXIT.done;
};

async function validity(profile: Profile, signal: AbortSignal): Promise<"valid" | "not valid"> {
  try {
    await check(profile, signal);
    return "valid";
  } catch (error) {
    if (endOf(error).exitCode === EXIT.notAllowed) return "not valid";
    throw error;
  }
}

export const listProfiles: Run = async ({ env, output }: Context, [chosen]) => {
  const config = readConfig(env);
  if (chosen !== undefined) {
    if (!Object.hasOwn(config.profiles, chosen))
      throw new CommandError(EXIT.notFound, `There is no profile "${chosen}"`);
    writeConfig(env, { ...config, current: chosen });
  }
  const current = chosen ?? config.current;
  const profiles = Object.entries(config.profiles).map(([name, { url, key, admin_token: token }]) => ({
    name,
    url,
    current: name === current,
    has_key: key !== undefined,
    has_admin_token: token !== undefined,
  }));
  output.data({ profiles }, () =>
    profiles.length === 0
      ? "There are no profiles. Create a profile: copra login <url>"
      : table(
          profiles.map(({ name, url, current, has_admin_token }) => [
            current ? "*" : "",
            name,
            url,
            has_admin_token ? "operator" : "",
          ]),
        ),
  );
};
