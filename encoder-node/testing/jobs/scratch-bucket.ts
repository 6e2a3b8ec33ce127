// Support for tests of chunked jobs: an S3 server with a scratch bucket, and signed URLs for it.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { AwsClient } from "aws4fetch";
import type { TaskDeps } from "../../workspace/task-deps.ts";

/** Runs in a process of its own, because s3rver has a single account per process. */
const SERVER = `
const S3rver = require("@20minutes/s3rver");
const server = new S3rver({ address: "127.0.0.1", port: 0, directory: process.argv[1], silent: true,
  configureBuckets: [{ name: "scratch" }] });
server.on("error", () => {});
server.run().then(({ port }) => console.log(port));
`;

export type ScratchBucket = {
  readonly requestScratch: TaskDeps["requestScratch"];
  /** The names of each request for read URLs. */
  readonly read: (readonly string[])[];
  /** True if new signatures have expired already. */
  expire(isExpired: boolean): void;
  get(name: string): Promise<Buffer | null>;
  put(name: string, bytes: Uint8Array): Promise<void>;
  names(): Promise<string[]>;
  close(): Promise<void>;
};

export async function startScratchBucket(): Promise<ScratchBucket> {
  const folder = await mkdtemp(join(tmpdir(), "copra-scratch-"));
  const server: ChildProcess = spawn(process.execPath, ["-e", SERVER, folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (!server.stdout) throw new Error("No stdout");
  const [port] = (await once(createInterface(server.stdout), "line")) as [string];
  const origin = `http://127.0.0.1:${port}/scratch`;
  const client = new AwsClient({
    accessKeyId: "S3RVER",
    secretAccessKey: "S3RVER",
    region: "us-east-1",
    service: "s3",
    retries: 0,
  });
  const read: (readonly string[])[] = [];
  let isExpired = false;
  const sign = async (name: string, method: string): Promise<string> => {
    const url = `${origin}/job/${name}?X-Amz-Expires=60`;
    const datetime = isExpired ? { datetime: "20200101T000000Z" } : {};
    return (await client.sign(url, { method, aws: { signQuery: true, ...datetime } })).url;
  };
  return {
    read,
    expire: (value) => {
      isExpired = value;
    },
    async requestScratch(puts, gets) {
      if (gets.length > 0) read.push(gets);
      const parts = puts.map(async ({ name, sizeBytes }) => {
        return { url: await sign(name, "PUT"), headers: {}, offset: 0, sizeBytes };
      });
      return { puts: await Promise.all(parts), gets: await Promise.all(gets.map((name) => sign(name, "GET"))) };
    },
    async get(name) {
      const response = await client.fetch(`${origin}/job/${name}`);
      const body = Buffer.from(await response.arrayBuffer());
      return response.ok ? body : null;
    },
    async put(name, bytes) {
      const response = await client.fetch(`${origin}/job/${name}`, { method: "PUT", body: Buffer.from(bytes) });
      if (!response.ok) throw new Error(`PUT ${name}: ${response.status}`);
    },
    async names() {
      const text = await (await client.fetch(`${origin}?list-type=2&prefix=job/`)).text();
      return [...text.matchAll(/<Key>job\/([^<]+)<\/Key>/g)].map(([, name = ""]) => name).toSorted();
    },
    async close() {
      server.kill();
      await once(server, "exit");
      await rm(folder, { recursive: true, force: true });
    },
  };
}
