// Deploys the two Workers, in the order that local/deploy/configs.ts plans.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../home/constants.ts";
import { type Config, hubConfig, hubNameOf, hubTag, mainConfig, planDeploy, readConfig } from "./configs.ts";
import { deployedOf, secretsOf, type Wrangler } from "./wrangler.ts";

/** The only secret that the hub needs: it checks the tokens of leases and signs sessions of nodes. */
const HUB_SECRET = "SEALING_KEYS";

type Print = (line: string) => void;

/** Deploys. `extra` are arguments of `wrangler deploy`; with `--dry-run` nothing is deployed or asked. */
export async function deploy(run: Wrangler, extra: readonly string[], print: Print): Promise<void> {
  const parent = join(ROOT, ".wrangler");
  mkdirSync(parent, { recursive: true });
  // Always as deep, because the bundle names the source's files from here.
  const folder = mkdtempSync(join(parent, "deploy-"));
  try {
    await deployFrom(folder, run, extra, print);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function deployFrom(folder: string, run: Wrangler, extra: readonly string[], print: Print): Promise<void> {
  const config = readConfig();
  const hubName = hubNameOf(config);
  const tag = await tagOfHub(folder, run, config);
  const isDry = extra.includes("--dry-run");
  const [main, hub] = isDry ? [null, null] : [await deployedOf(run, config.name), await deployedOf(run, hubName)];
  if (!isDry && !(await secretsOf(run, hubName)).includes(HUB_SECRET)) {
    throw new Error(
      `The hub is a Worker of its own and needs the ${HUB_SECRET} of ${config.name}, too: ` +
        `npx wrangler secret put ${HUB_SECRET} --name ${hubName}`,
    );
  }
  const steps = planDeploy(main, hub, tag);
  for (const step of steps) {
    const isHub = step.worker === "hub";
    print(isHub ? `Deploying ${hubName}: its nodes reconnect` : `Deploying ${config.name}`);
    const file = isHub
      ? writeConfig(folder, "hub", hubConfig(config, step.hasJobs))
      : writeConfig(folder, "main", mainConfig(config, step.hadHub));
    const own = isHub && step.hasJobs ? ["--tag", tag] : [];
    const { code } = await run(["deploy", "--config", file, ...own, ...extra], true);
    if (code !== 0) throw new Error(`Deploying ${isHub ? hubName : config.name} failed`);
  }
  if (!steps.some(({ worker }) => worker === "hub")) print(`${hubName} has not changed: its nodes stay connected`);
}

function writeConfig(folder: string, name: string, config: object): string {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(config, null, 2));
  return file;
}

/** The tag of the hub as it would be deployed. */
async function tagOfHub(folder: string, run: Wrangler, config: Config): Promise<string> {
  const [built, bundle] = [hubConfig(config, true), join(folder, "hub-bundle")];
  const { code, stderr } = await run([
    ...["deploy", "--config", writeConfig(folder, "hub-bundle", built), "--dry-run", "--outdir", bundle],
  ]);
  if (code !== 0) throw new Error(`The hub's Worker does not build: ${stderr}`);
  const scripts = readdirSync(bundle).filter((name) => name.endsWith(".js"));
  // Paths of this machine must not change the tag.
  return hubTag(scripts.map((name) => readFileSync(join(bundle, name), "utf8")).join("\n"), { ...built, main: "" });
}
