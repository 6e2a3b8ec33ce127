// copra serve: runs the service on this machine, for its operator and for others. Settings come from the environment
// (serve-settings.ts), and all data is in one folder.
import { chmodSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "#shared/log.ts";
import { VERSION } from "#shared/version.ts";
import { snapshotBeforeUpgrade } from "../backup/before-upgrade.ts";
import { sweepDrafts } from "../backup/draft.ts";
import { COPRA_COMMAND, origin } from "../home/constants.ts";
import { whenParentExits } from "../processes/parent.ts";
import { listenForStopSignals, Stopped } from "../processes/stop-signals.ts";
import { dashboardLink } from "../stack/dashboard-link.ts";
import { PortInUse, type Stack, startStack } from "../stack/stack.ts";
import { readServeSettings, SECRET_VARIABLES, type ServeSettings } from "./serve-settings.ts";

const stopSignals = listenForStopSignals();
whenParentExits(() => process.kill(process.pid, "SIGTERM"));

let settings: ServeSettings | undefined;
try {
  settings = readServeSettings(process.env);
  // Nodes and the S3 server inherit the environment.
  for (const name of SECRET_VARIABLES) delete process.env[name];
  await main(settings);
} catch (error) {
  if (!(error instanceof Stopped)) {
    console.error(messageOf(error));
    // As in the command line: 2 for options that are not valid (cli/exit.ts).
    process.exitCode = settings === undefined || error instanceof PortInUse ? 2 : 1;
  }
}

async function main({ stack: settings, nodeTokenFile, drainMs }: ServeSettings): Promise<void> {
  console.log(`Copra ${VERSION}: starting with the data in ${settings.home} …`);
  openData(settings.home);
  sweepDrafts(settings.home, new Date());

  const prepare = (): void => {
    const snapshot = snapshotBeforeUpgrade(settings.home, new Date());
    if (snapshot !== null) console.log(`  The data as it was before this version is in ${snapshot}`);
  };
  const stack = await startStack(settings, {
    prepare,
    signal: stopSignals.first,
    progress: (message) => console.log(`  ${message}`),
  });
  try {
    if (nodeTokenFile !== null) writeFileSync(nodeTokenFile, stack.describe().nodeToken, { mode: 0o600 });
    console.log(await greeting(stack, settings));
    await new Promise<void>((resolve) => {
      if (stopSignals.first.aborted) resolve();
      stopSignals.first.addEventListener("abort", () => resolve());
    });
  } finally {
    console.log(`Stopping; running tasks may finish for ${drainMs / 1000} s. A second signal aborts them.`);
    stopSignals.second.addEventListener("abort", () => stack.abortTasks());
    await stack.stop(drainMs);
  }
  console.log("Stopped. Unfinished jobs go on at the next start.");
}

/** Creates the folder, which nobody else can read. Throws a message for people if others can read its secrets. */
function openData(home: string): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  chmodSync(home, 0o700);
  const secrets = join(home, "secrets.json");
  const mode = statSync(secrets, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & 0o077) !== 0) {
    throw new Error(`Others may read ${secrets}. Run chmod 600 ${secrets}, and change the secrets if somebody has.`);
  }
}

/**
 * A greeting. It contains a secret, a link that signs in, only at a terminal: otherwise it goes to a log of the system.
 */
async function greeting(stack: Stack, { port, service }: ServeSettings["stack"]): Promise<string> {
  const { pids, s3 } = stack.describe();
  const url = service.publicUrl ?? origin(port);
  const dashboard = process.stdout.isTTY
    ? `${await dashboardLink(stack.describe())}   (signs in once, within a minute)`
    : `${url}/dashboard`;
  const warning =
    service.allowPrivate === "none"
      ? ""
      : `\n  Warning   requests may name addresses in private networks (--allow-private ${service.allowPrivate})`;
  return `
Copra runs.

  Dashboard  ${dashboard}
             (a link that signs in: COPRA_HOME=${stack.home} ${COPRA_COMMAND} dashboard)
  API        ${url}/v2
  Storage    ${s3.endpoint === "" ? "none on this machine" : s3.endpoint}
  Nodes      ${pids.nodes.length} on this machine
  Access     ${join(stack.home, "stack.json")} has the first API key, the admin token and a node token${warning}
`;
}
