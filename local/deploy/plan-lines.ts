// A plan in words.
import { type Account, bucketOf, databaseOf } from "./account/read-account.ts";
import { type Config, hubNameOf } from "./configs.ts";
import type { Plan } from "./plan.ts";

/** What a deploy will do, in its order. */
export function planLines(config: Config, account: Account, plan: Plan, migrations: readonly string[]): string[] {
  const { secrets, steps } = plan;
  const lines = [
    ...(plan.createDatabase ? [`Create the database ${databaseOf(config).name}`] : []),
    ...(plan.createBucket ? [`Create the bucket ${bucketOf(config)}`] : []),
    ...secrets.make.map((name) => `Make the secret ${name}`),
    ...secrets.ask.map((name) => `Ask for the secret ${name}`),
    ...migrations.map((name) => `Apply the migration ${name}`),
    ...steps.map((step, at) => deployLine(config, account, plan, steps.findIndex(isSame(step)) === at, step.worker)),
    ...(account.main === null && steps.some(({ worker }) => worker === "main")
      ? ["Create an account with an API key, and a node token"]
      : []),
  ];
  return [
    ...(lines.length === 0 ? ["Everything is as it should be"] : lines),
    ...(account.hub !== null && !steps.some(({ worker }) => worker === "hub")
      ? [`${hubNameOf(config)} has not changed: its nodes stay connected`]
      : []),
    ...(account.bucket === "off" ? [NO_R2] : []),
  ];
}

const NO_R2 =
  "This account has no R2: the service offers no uploads and no storage of its own until R2 is enabled in " +
  "Cloudflare's dashboard and it is deployed again. Jobs with other storages need none of it";

type Step = Plan["steps"][number];

const isSame =
  ({ worker }: Step) =>
  (other: Step): boolean =>
    other.worker === worker;

/** `isFirst`: of this Worker, which gets its secrets then. */
function deployLine(
  config: Config,
  { hub }: Account,
  { secrets }: Plan,
  isFirst: boolean,
  worker: Step["worker"],
): string {
  const names = secrets.put[worker === "hub" ? "hub" : "main"];
  const name = worker === "hub" ? hubNameOf(config) : config.name;
  return [
    `Deploy ${name}`,
    ...(worker === "both" ? [" with the hub in it"] : []),
    ...(isFirst && names.length > 0 ? [`, with ${names.join(" and ")}`] : []),
    ...(worker === "hub" && hub !== null ? [": its nodes reconnect"] : []),
  ].join("");
}
