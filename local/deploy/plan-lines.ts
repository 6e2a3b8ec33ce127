// Describes a plan in words.
import { type Account, bucketOf, databaseOf } from "./account/read-account.ts";
import type { Config } from "./configs.ts";
import type { Arguments } from "./options.ts";
import type { Plan } from "./plan.ts";

/** The steps of a deploy, in their order. */
export function planLines(
  config: Config,
  account: Account,
  plan: Plan,
  migrations: readonly string[],
  { subdomain = "<name>", location }: Pick<Arguments, "subdomain" | "location">,
): string[] {
  const { secrets, deploys } = plan;
  const withSecrets = secrets.put.length > 0 ? `, with ${secrets.put.join(" and ")}` : "";
  const lines = [
    ...(plan.registerSubdomain ? [`Register ${subdomain}.workers.dev for the account`] : []),
    ...(plan.createDatabase
      ? [`Create the database ${databaseOf(config).name}${location ? ` in ${location}` : ""}`]
      : []),
    ...(plan.createBucket ? [`Create the bucket ${bucketOf(config)}`] : []),
    ...secrets.make.map((name) => `Make the secret ${name}`),
    ...secrets.ask.map((name) => `Ask for the secret ${name}`),
    ...migrations.map((name) => `Apply the migration ${name}`),
    ...(deploys ? [`Deploy ${config.name}${withSecrets}`] : []),
    ...(account.worker === null && deploys ? ["Create an account with an API key, and a node token"] : []),
  ];
  return [
    ...(lines.length === 0 ? ["Everything is as it should be"] : lines),
    ...(account.bucket === "off" ? [NO_R2] : []),
  ];
}

const NO_R2 =
  "This account has no R2: the service offers no uploads and no storage of its own until R2 is enabled in " +
  "Cloudflare's dashboard and it is deployed again. Jobs with other storages need none of it";
