// npm start: runs the whole system on this machine until Ctrl-C. npm run dev: the same, with a restart on every save.
// With --edge, requests from and to the control plane go through an emulation of Cloudflare's edge.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { AwsClient } from "aws4fetch";
import { messageOf } from "#shared/log.ts";
import { buildOnSave } from "./dashboard/watch-dashboard.ts";
import { demoJob } from "./demo/demo-job.ts";
import { sampleClip } from "./demo/sample.ts";
import { openInbox, type Webhook } from "./demo/webhook-inbox.ts";
import { LOCAL_SERVICE } from "./home/service-settings.ts";
import { readSettings } from "./home/settings.ts";
import { whenParentExits } from "./processes/parent.ts";
import { listenForStopSignals, Stopped } from "./processes/stop-signals.ts";
import { dashboardLink } from "./stack/dashboard-link.ts";
import { restartOnSave } from "./stack/reload.ts";
import { type Stack, startStack } from "./stack/stack.ts";

const stopSignals = listenForStopSignals();
whenParentExits(() => process.kill(process.pid, "SIGTERM"));

try {
  await main(process.argv.includes("--watch"), process.argv.includes("--edge"));
} catch (error) {
  if (!(error instanceof Stopped)) {
    console.error(messageOf(error));
    process.exitCode = 1;
  }
}

async function main(reload: boolean, isEdge: boolean): Promise<void> {
  console.log("Starting the S3 server, the control plane and the encoder nodes …");
  const stack = await startStack(
    { ...readSettings(process.env), service: { ...LOCAL_SERVICE, isEdge } },
    { signal: stopSignals.first, progress: (message) => console.log(`  ${message}`) },
  );
  const inbox = await openInbox(stack.webhookSecret, logWebhook);
  const watching = reload
    ? [restartOnSave({ restart: stack.restart, notify: console.log }), buildOnSave(console.log)]
    : [];
  try {
    console.log(await greeting(stack, inbox.origin));
    if (reload) console.log("Watching the sources: the control plane and the nodes restart when a file is saved.\n");
    await new Promise<void>((resolve) => {
      if (stopSignals.first.aborted) resolve();
      stopSignals.first.addEventListener("abort", () => resolve());
    });
  } finally {
    for (const stopWatching of watching) stopWatching();
    console.log("\nStopping; running tasks may finish for 20 s. Press Ctrl-C again to abort them.");
    stopSignals.second.addEventListener("abort", () => stack.abortTasks());
    await stack.stop();
    await inbox.close();
  }
  console.log("Stopped. All data is kept; unfinished jobs resume at the next start.");
}

function logWebhook({ event, jobId, signed }: Webhook): void {
  console.log(`Webhook: ${event} of job ${jobId}, ${signed ? "signature valid" : "SIGNATURE NOT VALID"}`);
}

async function greeting(stack: Stack, webhookUrl: string): Promise<string> {
  const { api, apiKey, s3, pids } = stack.describe();
  return `
Copra runs on this machine. Ctrl-C stops it.

  Dashboard ${await dashboardLink(stack.describe())}
            (signs in once, within a minute; another link: npm run copra -- dashboard)
  API       ${api}   key ${apiKey}   (HTTP Basic: the key is the user, the password is empty)
  Storage   ${s3.endpoint}   bucket ${s3.bucket}   (an S3 server; its keys are in ${join(stack.home, "stack.json")})
  Nodes     ${pids.nodes.length} on this machine
  Data      ${stack.home}   (jobs, logs, secrets)

${await example(stack, webhookUrl)}`;
}

/** Commands to paste into a shell. */
async function example(stack: Stack, webhookUrl: string): Promise<string> {
  const { api, apiKey } = stack.describe();
  try {
    const job = demoJob(stack.describe(), await storeSample(stack), webhookUrl, "example");
    return `A job to try, with a sample clip from the bucket; its webhook is shown here:

curl -u ${apiKey}: ${api}/jobs -d '${JSON.stringify(job)}'

Its progress:   curl -u ${apiKey}: ${api}/jobs/<id from the response>
`;
  } catch (error) {
    return `No example, because the sample clip could not be made: ${messageOf(error)}\n`;
  }
}

/** Stores the sample clip in the bucket, where anyone on this machine can read it. Returns its URL. */
async function storeSample(stack: Stack): Promise<string> {
  const { s3 } = stack.describe();
  const url = `${s3.endpoint}/${s3.bucket}/sample.mp4`;
  const client = new AwsClient({ ...s3, service: "s3" });
  const body = await readFile(await sampleClip(stack.home));
  const response = await client.fetch(url, { method: "PUT", headers: { "content-type": "video/mp4" }, body });
  if (!response.ok) throw new Error(`The S3 server responded with HTTP ${response.status}`);
  return url;
}
