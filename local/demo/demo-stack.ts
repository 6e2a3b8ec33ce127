// The stack that the demo works with: the one that runs on the home already, or one of its own.
import { setTimeout as sleep } from "node:timers/promises";
import { loadSecrets } from "../home/secrets.ts";
import { readSettings, type StackSettings } from "../home/settings.ts";
import { readStackFile, type StackFile } from "../home/stack-file.ts";
import { runningStackPid } from "../processes/process-record.ts";
import { isFree } from "../stack/ports.ts";
import { startStack } from "../stack/stack.ts";

export type DemoStack = StackFile & {
  readonly home: string;
  readonly webhookSecret: string;
  /** Stops the stack if the demo started it. */
  leave(): Promise<void>;
};

type Env = Readonly<Record<string, string | undefined>>;

export async function demoStack(env: Env, signal: AbortSignal): Promise<DemoStack> {
  const settings = readSettings(env);
  return (await runningStack(settings.home, signal)) ?? ownStack(settings, env, signal);
}

const STARTING_CHECK_MS = 200;

async function runningStack(home: string, signal: AbortSignal): Promise<DemoStack | null> {
  for (let owner = runningStackPid(home); owner !== null; owner = runningStackPid(home)) {
    const file = readStackFile(home);
    const { access } = loadSecrets(home);
    if (file && access) {
      console.log(`Using the stack that runs already (process ${owner}).`);
      return { ...file, home, webhookSecret: access.webhookSecret, leave: async () => {} };
    }
    // It is starting.
    signal.throwIfAborted();
    await sleep(STARTING_CHECK_MS);
  }
  return null;
}

async function ownStack(settings: StackSettings, env: Env, signal: AbortSignal): Promise<DemoStack> {
  console.log("Starting the S3 server, the control plane and an encoder node for this demo …");
  const stack = await startStack(
    {
      home: settings.home,
      // Without a node nothing would be encoded.
      nodes: Math.max(1, settings.nodes),
      // Nobody asked for the usual ports, so others do as well when those are taken.
      port: env.COPRA_PORT || (await isFree(settings.port)) ? settings.port : 0,
      s3Port: env.COPRA_S3_PORT || (await isFree(settings.s3Port)) ? settings.s3Port : 0,
    },
    { signal },
  );
  const { home, webhookSecret } = stack;
  // What still runs then is work that nobody waits for any more.
  return { ...stack.describe(), home, webhookSecret, leave: () => stack.stop(0) };
}
