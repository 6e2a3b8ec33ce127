// Downloads all objects below a folder of the bucket.
import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { AwsClient } from "aws4fetch";
import type { StackFile } from "../home/stack-file.ts";

/** Saves all objects below `prefix` under `folder`. Returns the bytes of each object by its URL. */
export async function saveFolder(s3: StackFile["s3"], prefix: string, folder: string): Promise<Map<string, number>> {
  const { endpoint, bucket, region, accessKeyId, secretAccessKey } = s3;
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: "s3" });
  const base = `${endpoint}/${bucket}`;
  const sizes = new Map<string, number>();
  for (const name of await listObjects(client, base, `${prefix}/`)) {
    const url = `${base}/${name.split("/").map(encodeURIComponent).join("/")}`;
    sizes.set(url, await save(url, join(folder, name.slice(prefix.length + 1))));
  }
  return sizes;
}

async function listObjects(client: AwsClient, base: string, prefix: string): Promise<string[]> {
  const query = new URLSearchParams({ "list-type": "2", prefix });
  const response = await client.fetch(`${base}?${query}`);
  if (!response.ok) throw new Error(`The bucket cannot be listed: HTTP ${response.status}`);
  // The demo's object names contain no XML entities.
  return [...(await response.text()).matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, name = ""]) => name);
}

async function save(url: string, path: string): Promise<number> {
  const response = await fetch(url);
  if (!response.ok || !response.body) throw new Error(`${url} cannot be read: HTTP ${response.status}`);
  await mkdir(dirname(path), { recursive: true });
  const file = createWriteStream(path);
  await pipeline(response.body, file);
  return file.bytesWritten;
}
