// Reads stored objects: as anyone may, or with the client's own keys.
import * as z from "zod";
import type { LocalStack, Target } from "../target/target.ts";
import type { Fetcher } from "./download.ts";

/** The part of a storage of an S3-compatible service that signatures need. */
const Signable = z.object({
  region: z.string().default("us-east-1"),
  credentials: z.object({ access_key_id: z.string(), secret_access_key: z.string() }),
});

/**
 * Requests without a signature first, and with one if the storage demands it and the keys are known: from the request,
 * or of the local system.
 */
export async function signingFetcher(storage: object, { local }: Target): Promise<Fetcher> {
  const own = Signable.safeParse(storage);
  const keys = own.success ? own.data : local ? localKeys(local) : null;
  if (!keys) return (url, signal) => fetch(url, { signal });
  const { AwsClient } = await import("aws4fetch");
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey } = keys.credentials;
  const client = new AwsClient({ accessKeyId, secretAccessKey, region: keys.region, service: "s3", retries: 0 });
  return async (url, signal) => {
    const response = await fetch(url, { signal });
    if (response.status !== 401 && response.status !== 403) return response;
    await response.body?.cancel();
    return client.fetch(url, { signal });
  };
}

const localKeys = ({ s3 }: LocalStack): z.infer<typeof Signable> => ({
  region: s3.region,
  credentials: { access_key_id: s3.accessKeyId, secret_access_key: s3.secretAccessKey },
});
