// The parts of s3rver that the local S3 server uses; the package has no types.
declare module "@20minutes/s3rver" {
  import type { IncomingMessage, Server } from "node:http";

  namespace S3rver {
    type Context = {
      method: string;
      path: string;
      status: number;
      body: unknown;
      /** The path of this server below another. */
      mountPath?: string;
      readonly query: Readonly<Record<string, string | string[] | undefined>>;
      readonly req: IncomingMessage;
      /** Set after the request's signature has been verified. */
      readonly state: { readonly account?: unknown };
    };
    type Middleware = (context: Context, next: () => Promise<unknown>) => Promise<unknown>;
    type StoredObject = {
      readonly bucket: string;
      readonly key: string;
      readonly metadata: unknown;
      readonly content: unknown;
    };
    /** The content is a stream or a buffer. Returns the size and the MD5. */
    type Store = {
      getResourcePath(bucket: string, key: string | undefined, resource: string): string;
      putObject(object: StoredObject): Promise<{ size: number; md5: string }>;
      /** Returns the metadata; `metadata` replaces the metadata of the source. */
      copyObject(bucket: string, key: string, toBucket: string, toKey: string, metadata?: unknown): Promise<unknown>;
      putMetadata(bucket: string, key: string, metadata: unknown, md5: string): Promise<void>;
      getMetadata(bucket: string, key: string): Promise<{ readonly etag: string }>;
      getObject(bucket: string, key: string, options?: unknown): Promise<StoredObject | null>;
      putContent(path: string, content: unknown): Promise<[number, string]>;
      putPart(bucket: string, uploadId: string, part: string, content: unknown): Promise<unknown>;
      putObjectMultipart(bucket: string, uploadId: string, parts: unknown): Promise<unknown>;
      deleteObject(bucket: string, key: string): Promise<void>;
    };
  }
  class S3rver {
    constructor(options: {
      address: string;
      port: number;
      directory: string;
      silent: boolean;
      vhostBuckets: boolean;
      /** The end of host names that start with a bucket's name, as in `bucket.s3.amazonaws.com`. */
      serviceEndpoint: string;
      configureBuckets: { name: string; configs?: string[] }[];
    });
    readonly store: S3rver.Store;
    readonly middleware: S3rver.Middleware[];
    readonly httpServer: Server;
    on(event: "error", listener: (error: unknown) => void): this;
    run(): Promise<{ port: number }>;
    close(): Promise<void>;
  }
  export = S3rver;
}

declare module "@20minutes/s3rver/lib/models/account.js" {
  const account: {
    DUMMY_ACCOUNT: {
      createKeyPair(accessKeyId: string, secretAccessKey: string): void;
      revokeAccessKey(accessKeyId: string): void;
    };
  };
  export = account;
}

declare module "@20minutes/s3rver/lib/models/error.js" {
  class S3Error extends Error {
    constructor(code: string, message: string);
    readonly code: string;
  }
  export = S3Error;
}
