// Promises that must hold after every fault.

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { AwsClient } from "aws4fetch";
import { expect } from "vitest";
import * as z from "zod";
import { parseLeaseId } from "#shared/ids.ts";
import { SCRATCH_BUCKET } from "../../local/home/constants.ts";
import { look } from "../look.ts";
import type { JobView } from "../services/api-client.ts";
import type { ProxiedRequest } from "./fault-proxy.ts";
import type { FaultWorld } from "./fault-world.ts";

const Log = z.object({
  notifications: z.array(z.object({ id: z.string(), event: z.string(), status: z.string(), attempts: z.int() })),
});

export type Expected = {
  readonly status: string;
  /** Frame counts of the video outputs, by index. */
  readonly frames?: Readonly<Record<number, number>>;
  /** Names of all objects below `folder`, which belongs to this job alone. */
  readonly folder?: string;
  readonly objects?: readonly string[];
};

/**
 * Checks that the job has ended once, as expected, and that its files are complete and there are no others. Every event
 * was recorded once and delivered at least once. No files or processes are left on nodes, and no uploads at the
 * storage. Returns the job.
 */
export async function expectKept(world: FaultWorld, id: string, expected: Expected): Promise<JobView> {
  const job = await world.stack.waitForJob(id);
  expect(job, JSON.stringify(job)).toMatchObject({ status: expected.status });
  for (const [output, frames] of Object.entries(expected.frames ?? {})) {
    const { url } = job.outputs[Number(output)] ?? {};
    expect((await look(url)).frames).toBe(frames);
  }
  const { folder, objects } = expected;
  if (folder && objects) expect(await objectsIn(world, folder)).toEqual([...objects].toSorted());
  await expectNotifiedOnce(world, id, expected.status);
  await expect.poll(() => multipartUploads(world)).toEqual([]);
  await expect.poll(() => keys(world, SCRATCH_BUCKET, "")).toEqual([]);
  await expect.poll(() => world.nodes.flatMap((node) => node.leftovers())).toEqual([]);
  await expect.poll(() => world.nodes.flatMap((node) => node.strays())).toEqual([]);
  expect(await world.stack.waitForJob(id, 1000)).toEqual(job);
  return job;
}

/**
 * Each event has a single notification, which the receiver accepted under a single id. Only one reports the job's end.
 */
async function expectNotifiedOnce(world: FaultWorld, id: string, status: string): Promise<void> {
  const logOf = async (): Promise<z.infer<typeof Log>["notifications"]> =>
    Log.parse((await world.stack.request("GET", `/jobs/${id}/notifications`)).body).notifications;
  await expect.poll(async () => (await logOf()).every((each) => each.status === "delivered")).toBe(true);
  const log = await logOf();
  const taken = world.webhooks.received.filter(({ body, status: answer }) => answer === 200 && body?.job_id === id);
  const ids = new Set(taken.map(({ headers }) => headers["webhook-id"]));
  expect([...ids].toSorted()).toEqual(log.map((each) => each.id).toSorted());
  expect(
    log.filter(({ event }) => event === "job.completed" || event === "job.failed").map(({ event }) => event),
  ).toEqual([status].filter((each) => each !== "job.cancelled"));
}

function clientOf({ stack }: FaultWorld): AwsClient {
  const { region, accessKeyId, secretAccessKey } = stack.s3;
  return new AwsClient({ accessKeyId, secretAccessKey, region, service: "s3", retries: 0 });
}

async function keys(world: FaultWorld, bucket: string, prefix: string): Promise<string[]> {
  const url = `${world.stack.s3.endpoint}/${bucket}?list-type=2&prefix=${encodeURIComponent(prefix)}`;
  const answer = await clientOf(world).fetch(url);
  return [...(await answer.text()).matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key = ""]) => key).toSorted();
}

/** Names of the objects below a folder of the client's bucket, in alphabetical order. */
export const objectsIn = async (world: FaultWorld, folder: string): Promise<string[]> =>
  (await keys(world, world.stack.s3.bucket, `${folder}/`)).map((key) => key.slice(folder.length + 1));

/**
 * Ids of the uploads that were started and neither completed nor aborted. The S3 server cannot list them, but it keeps
 * a folder for each.
 */
export async function multipartUploads({ stack }: FaultWorld): Promise<string[]> {
  return readdir(join(stack.home, "s3", stack.s3.bucket, "._S3rver_uploads")).catch((error: NodeJS.ErrnoException) => {
    // The server makes the folder with the first upload.
    if (error.code === "ENOENT") return [];
    throw error;
  });
}

/**
 * Removes multipart uploads without parts. The control plane starts such uploads to check storages before the encode.
 * An upload stays if the control plane is killed before it records the upload's id (docs/promises.md).
 */
export async function forgetTrials(world: FaultWorld): Promise<void> {
  const { stack } = world;
  const uploads = join(stack.home, "s3", stack.s3.bucket, "._S3rver_uploads");
  for (const id of await multipartUploads(world)) {
    const files = await readdir(join(uploads, id));
    if (!files.some((name) => /^\d+/.test(name))) await rm(join(uploads, id), { recursive: true });
  }
}

/** The attempts of a job, such as `encode.1`, that have sent a report or requested uploads so far, in order. */
export function attemptsOf(
  { proxies }: FaultWorld,
  id: string,
  counts: (request: ProxiedRequest) => boolean = () => true,
): string[] {
  const leases = proxies.api.requests.filter(counts).map(({ path }) => /\/leases\/([^/]+)\//.exec(path)?.[1] ?? "");
  const named = leases.flatMap((lease) => parseLeaseId(lease) ?? []).filter(({ job }) => job === id);
  return [...new Set(named.map(({ task, attempt }) => `${task}.${attempt}`))];
}
