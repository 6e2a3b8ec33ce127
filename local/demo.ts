// npm run demo [-- <file or URL>]: encodes a file on this machine and prints the URLs of the results.
import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "#shared/log.ts";
import { urlsOf } from "../cli/follow/report.ts";
import { downloadAll } from "../cli/results/download.ts";
import { Copra, type Job } from "../client/index.ts";
import { demoJob, newFolder } from "./demo/demo-job.ts";
import { progressLine, reportFailure, reportResults } from "./demo/demo-report.ts";
import { type DemoStack, demoStack } from "./demo/demo-stack.ts";
import { serveFile } from "./demo/file-server.ts";
import { sampleClip } from "./demo/sample.ts";
import { openInbox, type Webhook } from "./demo/webhook-inbox.ts";
import { whenParentExits } from "./processes/parent.ts";
import { listenForStopSignals, Stopped } from "./processes/stop-signals.ts";
import { dashboardLink } from "./stack/dashboard-link.ts";

const POLL_MS = 500;
/** The service sends the webhook as soon as the job ends; a later webhook is a retry. */
const WEBHOOK_WAIT_MS = 5000;

const { first: stopSignal } = listenForStopSignals();
whenParentExits(() => process.kill(process.pid, "SIGTERM"));

const cleanups: (() => Promise<void>)[] = [];
try {
  process.exitCode = (await main(process.argv[2])) ? 0 : 1;
} catch (error) {
  console.error(`\n${messageOf(error)}`);
  process.exitCode = error instanceof Stopped ? 130 : 1;
} finally {
  for (const cleanUp of cleanups.reverse()) await cleanUp();
}

/** Returns true if the job completed. */
async function main(source: string | undefined): Promise<boolean> {
  const isUrl = source !== undefined && /^https?:\/\//i.test(source);
  if (source !== undefined && !isUrl && !statSync(source, { throwIfNoEntry: false })?.isFile()) {
    throw new Error(
      `${resolve(source)} is not a file. Give the path of a video, or a URL that starts with http:// or https://.`,
    );
  }
  const stack = await demoStack(process.env, stopSignal);
  cleanups.push(stack.release);
  const sourceUrl = isUrl ? source : await serve(source ? resolve(source) : await sampleClip(stack.home));
  const webhooks: Webhook[] = [];
  const inbox = await openInbox(stack.webhookSecret, (webhook) => webhooks.push(webhook));
  cleanups.push(inbox.close);

  console.log(`Encoding ${source ?? "a sample clip; npm run demo -- <file or URL> takes your own"}`);
  const folder = newFolder(new Date());
  const copra = new Copra({ url: new URL(stack.api).origin, key: stack.apiKey });
  const { id } = await copra.jobs.create(demoJob(stack, sourceUrl, inbox.origin, folder));
  console.log(`Watch it, within a minute: ${await dashboardLink(stack, `/jobs/${id}`)}`);
  const job = await follow(copra, id);
  const completed = job.status === "job.completed";
  if (completed) await showResults(stack, copra, job, folder);
  else reportFailure(job);
  await reportWebhook(webhooks, stack);
  return completed;
}

/** Saves the results to disk as well, because the S3 server stops with the demo. */
async function showResults({ home, s3 }: DemoStack, copra: Copra, job: Job, folder: string): Promise<void> {
  const saved = join(home, folder);
  const files = await downloadAll({
    urls: urlsOf(job),
    optional: [],
    folder: saved,
    base: `${s3.endpoint}/${s3.bucket}/`,
    prefix: `${folder}/`,
    signal: stopSignal,
    fetcher: (url, signal) => fetch(url, { signal }),
  });
  const sizes = new Map(files.map(({ url, bytes }) => [url, bytes]));
  reportResults(job, await copra.jobs.metadata(job.id), sizes);
  console.log(`\nSaved to ${saved} (${sizes.size} files); hls/master.m3u8 there plays in VLC, mpv and ffplay.`);
}

async function serve(path: string): Promise<string> {
  const server = await serveFile(path);
  cleanups.push(server.close);
  return server.url;
}

/** Shows the job's progress until it ends. */
async function follow(copra: Copra, id: string): Promise<Job> {
  const line = progressLine(process.stdout);
  try {
    for await (const job of copra.jobs.follow(id, { signal: stopSignal })) line.show(job);
    return await copra.jobs.get(id);
  } finally {
    line.end();
  }
}

async function reportWebhook(webhooks: readonly Webhook[], { api, home }: DemoStack): Promise<void> {
  const last = (): Webhook | undefined => webhooks.find(({ event }) => event.startsWith("job."));
  const deadline = Date.now() + WEBHOOK_WAIT_MS;
  while (!last() && Date.now() < deadline) await sleep(POLL_MS);
  const webhook = last();
  if (!webhook) console.log(`No webhook arrived from ${api}; the log in ${home} has the reason.`);
  else console.log(`The webhook ${webhook.event} arrived; its signature is ${webhook.signed ? "valid" : "NOT VALID"}.`);
}
