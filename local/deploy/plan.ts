// What a deploy does, decided from what the account has.
import type { Account } from "./account/read-account.ts";
import { type Config, usesWorkersDev } from "./configs.ts";
import { isPending, type Rotation } from "./master-secret.ts";
import { MASTER_SECRET, planSecrets, type SecretsPlan } from "./secrets.ts";

export type Plan = {
  /** The account gets a name at workers.dev: the one given, or one that is asked for. */
  readonly registerSubdomain: boolean;
  readonly createDatabase: boolean;
  readonly createBucket: boolean;
  readonly secrets: SecretsPlan;
  /** True if the Worker is deployed: otherwise it is there, in the same version. */
  readonly deploys: boolean;
};

export type Circumstances = {
  /** The tag of the version that would be deployed: it changes with code and configuration, and with nothing else. */
  readonly tag: string;
  /** Secrets with values that are at hand. */
  readonly known: ReadonlySet<string>;
  /** Secrets that an interrupted deploy may not have put. */
  readonly pending: readonly string[];
  /** In Cloudflare's builds nothing is made: the form of the button asks for it, and nobody could read it here. */
  readonly isBuild: boolean;
  /** Puts a new master secret before the others, or removes all but the first. */
  readonly rotation: Rotation;
  /** Deploys what has not changed, too. */
  readonly isForced: boolean;
  /** The name at workers.dev that the operator chose. */
  readonly subdomain: string | undefined;
  /** Where the service answers was learned by an earlier deploy. */
  readonly isUrlKnown: boolean;
};

/**
 * The plan of a deploy. A service that has everything, in the same version, is left alone. Throws a message for people
 * when the master secret cannot change yet, or when another program has the service's name.
 */
export function planDeploy(config: Config, account: Account, circumstances: Circumstances): Plan {
  const { tag, isBuild, isForced, isUrlKnown, subdomain } = circumstances;
  const { worker } = account;
  // Who connects a Worker with a repository has chosen it: Cloudflare makes one of its own for the deploy button.
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
