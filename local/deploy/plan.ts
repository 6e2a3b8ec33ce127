// What a deploy does, and in which order, decided from what the account has.
import type { Account } from "./account/read-account.ts";
import type { Config, Deployed } from "./configs.ts";
import { isPending, type Rotation } from "./master-secret.ts";
import { MASTER_SECRET, planSecrets, type SecretNames, type SecretsPlan } from "./secrets.ts";

export type DeployStep =
  | { readonly worker: "main"; readonly hadHub: boolean }
  | { readonly worker: "hub"; readonly hasJobs: boolean }
  /** The whole service as one Worker. */
  | { readonly worker: "both" };

/** The tags of the versions that would be deployed: they change with code and configuration, and with nothing else. */
export type Tags = { readonly main: string; readonly hub: string };

export type Plan = {
  readonly createDatabase: boolean;
  readonly createBucket: boolean;
  /** The Worker gets its own storage. */
  readonly hasBucket: boolean;
  readonly secrets: SecretsPlan;
  readonly steps: readonly DeployStep[];
};

export type Circumstances = {
  readonly tags: Tags;
  /** Secrets with values that are at hand. */
  readonly known: ReadonlySet<string>;
  /** Secrets that an interrupted deploy may not have put. */
  readonly pending: SecretNames;
  /**
   * One Worker for all: in Cloudflare's builds, where a secret is given to one Worker only. A service that has its hub
   * in a Worker of its own keeps it there.
   */
  readonly asOneWorker: boolean;
  /** Puts a new master secret before the others, or removes all but the first. */
  readonly rotation: Rotation;
  /** Deploys what has not changed, too. */
  readonly isForced: boolean;
  /** Where the service answers was learned by an earlier deploy. */
  readonly isUrlKnown: boolean;
};

/**
 * The plan of a deploy. A service that has everything, in the same version, is left alone. Throws a message for people
 * when the master secret cannot change yet.
 */
export function planDeploy(config: Config, account: Account, circumstances: Circumstances): Plan {
  const one = circumstances.asOneWorker && account.hub === null && !isSplit(account.main);
  const secrets = one ? oneWorkerSecrets(config, account, circumstances) : planFor(config, account, circumstances);
  return {
    createDatabase: account.databaseId === null,
    createBucket: account.bucket === "none",
    hasBucket: account.bucket === "none" || account.bucket === "found",
    secrets,
    steps: one ? [{ worker: "both" }] : stepsOf(account, secrets, circumstances),
  };
}

function planFor(config: Config, { secrets }: Account, { known, pending, rotation }: Circumstances): SecretsPlan {
  const { make, ask, put } = planSecrets(config, secrets, known);
  if (rotation !== null && isPending(pending)) {
    throw new Error(`An earlier change of ${MASTER_SECRET} is not in both Workers yet: run npm run deploy first`);
  }
  const rotated = rotation === null ? [] : [MASTER_SECRET];
  const asked = rotated.filter((name) => secrets.main.includes(name) && !known.has(name));
  return {
    make,
    ask: [...new Set([...ask, ...asked])],
    put: {
      main: [...new Set([...put.main, ...pending.main, ...rotated])],
      hub: [...new Set([...put.hub, ...pending.hub, ...rotated])],
    },
  };
}

/** Nothing is made: the form of Cloudflare's button asks for it, and nobody could read it here. */
function oneWorkerSecrets(config: Config, { secrets }: Account, { known }: Circumstances): SecretsPlan {
  const { put } = planSecrets(config, { main: secrets.main, hub: ["MASTER_SECRET", "SEALING_KEYS"] }, known);
  return { make: [], ask: [], put: { main: put.main.filter((name) => known.has(name)), hub: [] } };
}

/** The migration with which the main Worker gave up the hub's objects (configs.ts). */
const isSplit = (main: Deployed): boolean => main?.migration.endsWith("-hub") ?? false;

/**
 * The hub comes before the main Worker, because it understands the main Worker of the previous release. Both exist for
 * a while until Cloudflare has replaced all objects. The two refer to each other, and one must exist first.
 */
function stepsOf({ main, hub }: Account, { put }: SecretsPlan, circumstances: Circumstances): DeployStep[] {
  const { tags, isUrlKnown, isForced } = circumstances;
  const hubIsSame = hub?.tag === tags.hub && put.hub.length === 0 && !isForced;
  const mainIsSame = main?.tag === tags.main && put.main.length === 0 && isUrlKnown && !isForced;
  const mainStep: DeployStep = { worker: "main", hadHub: main !== null };
  const lastHubStep: DeployStep = { worker: "hub", hasJobs: true };
  if (hubIsSame) return mainIsSame ? [] : [mainStep];
  if (main === null) return [{ worker: "hub", hasJobs: false }, mainStep, lastHubStep];
  return [lastHubStep, ...(mainIsSame ? [] : [mainStep])];
}
