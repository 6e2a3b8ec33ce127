// npm start: the whole system on this machine, until Ctrl-C.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { AwsClient } from "aws4fetch";
import { messageOf } from "#shared/log.ts";
import { demoJob } from "./demo/demo-job.ts";
import { sampleClip } from "./demo/sample.ts";
import { openInbox, type Webhook } from "./demo/webhook-inbox.ts";
import { readSettings } from "./home/settings.ts";
import { whenParentExits } from "./processes/parent.ts";
import { listenForStopSignals, Stopped } from "./processes/stop-signals.ts";
import { type Stack, startStack } from "./stack/stack.ts";

const stopSignals = listenForStopSignals();
whenParentExits(() => process.kill(process.pid, "SIGTERM"));

try {
  await main();
} catch (error) {
  if (!(error instanceof Stopped)) {
    console.error(messageOf(error));
    process.exitCode = 1;
  }
}

async function main(): Promise<void> {
  console.log("Starting the S3 server, the control plane and the encoder nodes …");
  const stack = await startStack(readSettings(process.env), { signal: stopSignals.first });
  const inbox = await openInbox(stack.webhookSecret, tellOfWebhook);
  try {
    console.log(await greeting(stack, inbox.origin));
    await new Promise<void>((resolve) => {
      if (stopSignals.first.aborted) resolve();
      stopSignals.first.addEventListener("abort", () => resolve());
    });
  } finally {
    console.log("\nStopping; running encodes get a moment to end. Ctrl-C again to cut them off.");
    stopSignals.second.addEventListener("abort", () => stack.abortTasks());
    await stack.stop();
    await inbox.close();
  }
  console.log("Stopped. Everything is kept; jobs that were not finished go on with the next start.");
}

function tellOfWebhook({ event, jobId, signed }: Webhook): void {
  console.log(`Webhook: ${event} of job ${jobId}, ${signed ? "signature right" : "SIGNATURE WRONG"}`);
}

async function greeting(stack: Stack, notifyUrl: string): Promise<string> {
  const { api, apiKey, s3, pids } = stack.describe();
  return `
Copra runs on this machine. Ctrl-C stops it.

  API       ${api}   key ${apiKey}   (HTTP Basic: the key is the user, the password is empty)
  Storage   ${s3.endpoint}   bucket ${s3.bucket}   (an S3 server; its keys are in ${join(stack.home, "stack.json")})
  Nodes     ${pids.nodes.length} on this machine
  Kept in   ${stack.home}   (data, logs, secrets)

${await example(stack, notifyUrl)}`;
}

/** Commands that work as they are pasted. */
async function example(stack: Stack, notifyUrl: string): Promise<string> {
  const { api, apiKey } = stack.describe();
  try {
    const job = demoJob(stack.describe(), await storeSample(stack), notifyUrl, "example");
    return `A job to try, on a clip that lies in the bucket; its webhook shows up here:

curl -u ${apiKey}: ${api}/jobs -d '${JSON.stringify(job)}'

How it goes on:   curl -u ${apiKey}: ${api}/jobs/<id from the answer>
`;
  } catch (error) {
    return `No example, because no sample clip could be made: ${messageOf(error)}\n`;
  }
}

/** Puts the sample clip into the bucket, where anyone on this machine may read it; answers its address. */
async function storeSample(stack: Stack): Promise<string> {
  const { s3 } = stack.describe();
  const url = `${s3.endpoint}/${s3.bucket}/sample.mp4`;
  const client = new AwsClient({ ...s3, service: "s3" });
  const body = await readFile(await sampleClip(stack.home));
  const answer = await client.fetch(url, { method: "PUT", headers: { "content-type": "video/mp4" }, body });
  if (!answer.ok) throw new Error(`The S3 server answered ${answer.status}`);
  return url;
}
