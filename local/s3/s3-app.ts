// The S3 server of the local system: s3rver with one account, on the loopback interface.
import S3rver from "@20minutes/s3rver";
import account from "@20minutes/s3rver/lib/models/account.js";
import { type Logger, messageOf } from "#shared/log.ts";
import {
  abortUploads,
  conditionalWrites,
  keepFreeSpace,
  patchStore,
  preferEtags,
  requireSignature,
  requireSignedSource,
  signedSlash,
  stayInBucket,
} from "./s3-rules.ts";

/** Lets players on pages of any origin read, as in a bucket for streams. */
const CORS = `<CORSConfiguration><CORSRule>
  <AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod><AllowedMethod>HEAD</AllowedMethod>
  <AllowedHeader>*</AllowedHeader><ExposeHeader>Content-Range</ExposeHeader><MaxAgeSeconds>3600</MaxAgeSeconds>
</CORSRule></CORSConfiguration>`;

/** The databases of the service are on the same disk. */
const MIN_FREE_BYTES = 2 ** 30;

export type S3Options = {
  /** 0 for any free port. */
  readonly port: number;
  /** The address to listen on; the loopback interface by default. */
  readonly address?: string;
  readonly directory: string;
  readonly bucket: string;
  /** True if only the account may read objects; by default anyone may. */
  readonly isPrivate?: boolean;
  /** Further buckets, whose objects only the account may read. */
  readonly privateBuckets?: readonly string[];
  /** Free bytes of the disk that uploads must leave; 1 GiB by default. */
  readonly minFreeBytes?: number;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
};

export type S3Server = { readonly port: number; close(): Promise<void> };

/**
 * Serves the bucket at `http://<address>:<port>/<bucket>/`. The account belongs to the process: a process can run only
 * one server.
 */
export async function startS3(options: S3Options, log: Logger): Promise<S3Server> {
  const {
    port,
    address = "127.0.0.1",
    directory,
    bucket,
    credentials,
    isPrivate = false,
    privateBuckets = [],
    minFreeBytes = MIN_FREE_BYTES,
  } = options;
  // s3rver's own key pair is public.
  account.DUMMY_ACCOUNT.revokeAccessKey("S3RVER");
  account.DUMMY_ACCOUNT.createKeyPair(credentials.accessKeyId, credentials.secretAccessKey);
  const server = new S3rver({
    address,
    port,
    directory,
    silent: true,
    vhostBuckets: false,
    // Only the path names the bucket: no Host contains a colon.
    serviceEndpoint: ":",
    configureBuckets: [{ name: bucket, configs: [CORS] }, ...privateBuckets.map((name) => ({ name }))],
  });
  patchStore(server.store);
  // These must run before s3rver's own middleware.
  const rules = [
    stayInBucket,
    requireSignature(isPrivate ? [] : [bucket]),
    requireSignedSource,
    keepFreeSpace(directory, minFreeBytes),
    preferEtags,
    conditionalWrites,
    signedSlash,
  ];
  server.middleware.unshift(logRequests(log), ...rules, abortUploads(server.store));
  server.on("error", () => {}); // Koa prints to stderr without a listener; the request's log line has the reason.
  const listening = await server.run();
  // A large file over a slow pipe takes longer than Node's five minutes.
  server.httpServer.requestTimeout = 0;
  return {
    port: listening.port,
    close: async () => {
      server.httpServer.closeIdleConnections();
      await server.close();
    },
  };
}

/** Logs a line for each request without its query: a signature in it would let others repeat the request. */
const logRequests =
  (log: Logger): S3rver.Middleware =>
  async (context, next) => {
    const { method, path } = context;
    try {
      await next();
      log.info("request served", { method, path, status: context.status });
    } catch (error) {
      log.warn("request rejected", { method, path, reason: messageOf(error) });
      throw error;
    }
  };
