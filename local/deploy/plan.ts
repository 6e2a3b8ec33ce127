// The plan of a deploy, decided from the resources of the account.
import type { Account } from "./account/read-account.ts";
import { type Config, usesWorkersDev } from "./configs.ts";
import { isPending, type Rotation } from "./master-secret.ts";
import { MASTER_SECRET, planSecrets, type SecretsPlan } from "./secrets.ts";

export type Plan = {
  /** True if the account gets a name at workers.dev: a given name, or a name that the operator enters. */
  readonly registerSubdomain: boolean;
  readonly createDatabase: boolean;
  readonly createBucket: boolean;
  readonly secrets: SecretsPlan;
  /** False if the same version is already deployed. */
  readonly deploys: boolean;
};

export type Circumstances = {
  /** The tag of the new version. Only code and configuration change it. */
  readonly tag: string;
  /** Names of secrets whose values are known. */
  readonly known: ReadonlySet<string>;
  /** Secrets that an interrupted deploy may not have put. */
  readonly pending: readonly string[];
  /**
   * Cloudflare's builds make no secrets: the form of the deploy button asks for them, and nobody could read them here.
   */
  readonly isBuild: boolean;
  /** Puts a new master secret before the others, or removes all but the first. */
  readonly rotation: Rotation;
  /** True to deploy an unchanged version, too. */
  readonly isForced: boolean;
  /** The name at workers.dev that the operator chose. */
  readonly subdomain: string | undefined;
  /** True if an earlier deploy has found the service's URL. */
  readonly isUrlKnown: boolean;
};

/**
 * The plan of a deploy. A complete service in the same version stays as it is. Throws a message for people if the
 * master secret cannot change yet, or if another program has the service's name.
 */
export function planDeploy(config: Config, account: Account, circumstances: Circumstances): Plan {
  const { tag, isBuild, isForced, isUrlKnown, subdomain } = circumstances;
  const { worker } = account;
  // In a build the operator has connected the Worker with a repository. For the deploy button Cloudflare makes a new
  // Worker.
  if (worker === "foreign" && !isBuild) throw new Error(otherWorker(config.name));
  const secrets = planFor(config, account, circumstances);
  const isSame = worker !== "foreign" && worker?.tag === tag && secrets.put.length === 0 && isUrlKnown;
  return {
    registerSubdomain: account.subdomain === null && (subdomain !== undefined || usesWorkersDev(config)),
    createDatabase: account.databaseId === null,
    createBucket: account.bucket === "none",
    secrets,
    deploys: isBuild || isForced || !isSame,
  };
}

const otherWorker = (name: string): string =>
  `The account has a Worker ${name} that is not Copra's, and a deploy would replace it. Choose another name of the ` +
  'service in wrangler.toml, such as name = "copra-encoder", or delete that Worker';

function planFor(config: Config, { secrets: has }: Account, circumstances: Circumstances): SecretsPlan {
  const { known, pending, rotation, isBuild } = circumstances;
  const { make, ask, put } = planSecrets(config, has, known);
  if (isBuild) return { make: [], ask: [], put: put.filter((name) => known.has(name)) };
  if (rotation !== null && isPending(pending)) {
    throw new Error(`An earlier change of ${MASTER_SECRET} is not in the Worker yet: run npm run deploy first`);
  }
  const rotated = rotation === null ? [] : [MASTER_SECRET];
  const asked = rotated.filter((name) => has.includes(name) && !known.has(name));
  return {
    make,
    ask: [...new Set([...ask, ...asked])],
    put: [...new Set([...put, ...pending, ...rotated])],
  };
}
