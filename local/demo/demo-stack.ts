// The stack for the demo: a stack that already runs in the home folder, or a new stack.
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
  release(): Promise<void>;
};

type Env = Readonly<Record<string, string | undefined>>;

export async function demoStack(env: Env, signal: AbortSignal): Promise<DemoStack> {
  const settings = readSettings(env);
  return (await runningStack(settings.home, signal)) ?? ownStack(settings, env, signal);
}

const START_POLL_MS = 200;

async function runningStack(home: string, signal: AbortSignal): Promise<DemoStack | null> {
  for (let pid = runningStackPid(home); pid !== null; pid = runningStackPid(home)) {
    const file = readStackFile(home);
    const { access } = loadSecrets(home);
    if (file && access) {
      console.log(`Using the Copra that runs already (process ${pid}).`);
      return { ...file, home, webhookSecret: access.webhookSecret, release: async () => {} };
    }
    // The stack is still starting.
    signal.throwIfAborted();
    await sleep(START_POLL_MS);
  }
  return null;
}

async function ownStack(settings: StackSettings, env: Env, signal: AbortSignal): Promise<DemoStack> {
  console.log("Starting the S3 server, the control plane and an encoder node for this demo …");
  const stack = await startStack(
    {
      home: settings.home,
      // The demo needs a node.
      nodes: Math.max(1, settings.nodes),
      // Takes any free ports if the default ports are in use, unless the ports were set explicitly.
      port: env.COPRA_PORT || (await isFree(settings.port)) ? settings.port : 0,
      s3Port: env.COPRA_S3_PORT || (await isFree(settings.s3Port)) ? settings.s3Port : 0,
    },
    { signal, progress: (message) => console.log(`  ${message}`) },
  );
  const { home, webhookSecret } = stack;
  // Tasks that still run at this time are not needed any more.
  return { ...stack.describe(), home, webhookSecret, release: () => stack.stop(0) };
}
