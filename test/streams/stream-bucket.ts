// The objects in the stack's bucket, and the order of their uploads.
import { AwsClient } from "aws4fetch";
import { XMLParser } from "fast-xml-parser";
import * as z from "zod";
import type { TestStack } from "../stack.ts";

const Listing = z.object({
  ListBucketResult: z.object({
    IsTruncated: z.stringbool(),
    Contents: z.array(z.object({ Key: z.string() })).default([]),
  }),
});

const parser = new XMLParser({ parseTagValue: false, isArray: (name) => name === "Contents" });

/** Addresses of all objects below a folder of the bucket. Throws if there are more than a thousand. */
export async function listBucket({ s3 }: TestStack, folder: string): Promise<string[]> {
  const { endpoint, bucket, region, accessKeyId, secretAccessKey } = s3;
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: "s3", retries: 0 });
  const answer = await client.fetch(`${endpoint}/${bucket}?list-type=2&prefix=${encodeURIComponent(`${folder}/`)}`);
  const { IsTruncated, Contents } = Listing.parse(parser.parse(await answer.text())).ListBucketResult;
  if (IsTruncated) throw new Error(`More than a thousand objects in ${folder}`);
  return Contents.map(({ Key }) => `${endpoint}/${bucket}/${Key}`);
}

const LogLine = z.object({
  time: z.coerce.date(),
  message: z.string(),
  method: z.string().optional(),
  path: z.string().optional(),
});

const linesOf = (log: string): z.infer<typeof LogLine>[] =>
  log
    .trim()
    .split("\n")
    .map((line) => LogLine.parse(JSON.parse(line)));

export type Stored = { readonly path: string; readonly at: Date };

/** The PUTs below a folder of the bucket, in their order. */
export const storedIn = (stack: TestStack, folder: string): Stored[] =>
  linesOf(stack.log("s3")).flatMap(({ time, method, path = "" }) =>
    method === "PUT" && path.startsWith(`/${stack.s3.bucket}/${folder}/`) ? [{ path, at: time }] : [],
  );

/** Start of the node's last encode. */
export function encodeBegan(stack: TestStack): Date {
  const began = linesOf(stack.log("node-1")).findLast(({ message }) => message === "ffmpeg started");
  if (!began) throw new Error("The node has not encoded anything");
  return began.time;
}
