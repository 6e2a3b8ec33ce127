// The servers that the Worker's own requests reach: a storage like S3, which is also the scratch bucket, and a receiver
// of webhooks.
import { endCaller, outside } from "./lives.ts";
import type { Network } from "./network.ts";
import { countSubrequests } from "./subrequests.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** A host with this name accepts webhooks. */
export const WEBHOOK_HOST = "hooks.example.com";
export const STORAGE_HOST = "s3.example.com";

export type Delivered = { readonly id: string; readonly url: string; readonly body: string };

/** A stored object: its size, and the lease of the node that stored it. */
export type StoredObject = { readonly sizeBytes: number; readonly lease: string };
type MultipartUpload = {
  readonly url: string;
  readonly parts: Map<string, StoredObject>;
  /**
   * True if an object has stored the upload's id. Otherwise only the lifecycle rules of the bucket remove the upload.
   */
  isKnown: boolean;
};

export class Internet {
  readonly #time: VirtualTime;
  readonly #network: Network;
  readonly #latencyMs: number;
  #begun = 0;
  /** Number of the Worker's requests. */
  requests = 0;
  readonly delivered: Delivered[] = [];
  /** Objects by URL. */
  readonly objects = new Map<string, StoredObject>();
  /** Uploads by id that are neither completed nor aborted. */
  readonly uploads = new Map<string, MultipartUpload>();
  /** Receives each webhook; false if the receiver fails. */
  receive: (delivered: Delivered) => boolean = (delivery) => {
    this.delivered.push(delivery);
    return true;
  };

  constructor(time: VirtualTime, network: Network, latencyMs: number) {
    this.#time = time;
    this.#network = network;
    this.#latencyMs = latencyMs;
  }

  /** Replaces `fetch`. */
  install(): void {
    const answer = async (target: Request | string | URL, init?: RequestInit): Promise<Response> => {
      const request = target instanceof Request ? target : new Request(target, init);
      this.requests += 1;
      countSubrequests("fetch");
      const body = request.body ? await request.text() : "";
      const fate = this.#network.fateOf("fetch");
      await this.#time.sleep(this.#network.delayMs(this.#latencyMs));
      // The response of Cloudflare's edge if it cannot reach the origin.
      if (fate === "lost") return new Response("error code: 522", { status: 522 });
      const response = this.#answer(request, body);
      if (fate === "caller dies") endCaller();
      else if (fate !== "passes") throw new Error("Network connection lost.");
      return response;
    };
    const within = (target: Request | string | URL, init?: RequestInit): Promise<Response> =>
      outside(() => answer(target, init));
    Object.assign(globalThis, { fetch: within });
  }

  /** Stores an object or a part for a node, by a signed URL. Returns true if the storage accepts it. */
  put(signed: string, object: StoredObject): boolean {
    const { searchParams, url } = placeOf(signed);
    const uploadId = searchParams.get("uploadId");
    if (uploadId === null) {
      this.objects.set(url, object);
      return true;
    }
    this.uploads.get(uploadId)?.parts.set(searchParams.get("partNumber") ?? "", object);
    return this.uploads.has(uploadId);
  }

  /** Records bytes that an object has stored. */
  written(bytes: Buffer): void {
    for (const [id, upload] of this.uploads) upload.isKnown ||= bytes.includes(id);
  }

  #answer({ url: requested, method, headers }: Request, body: string): Response {
    const { hostname, searchParams, url } = placeOf(requested);
    if (hostname === WEBHOOK_HOST) {
      const isTaken = this.receive({ id: headers.get("webhook-id") ?? "", url: requested, body });
      return new Response(isTaken ? "{}" : "", { status: isTaken ? 200 : 503 });
    }
    const uploadId = searchParams.get("uploadId");
    if (method === "POST" && searchParams.has("uploads")) return this.#begin(url);
    if (method === "POST" && searchParams.has("delete")) return this.#deleteAll(url, body);
    if (method === "POST" && uploadId !== null) return this.#complete(uploadId);
    if (method === "DELETE") {
      if (uploadId === null) this.objects.delete(url);
      else if (!this.uploads.delete(uploadId)) return NO_SUCH_UPLOAD();
      return new Response(null, { status: 204 });
    }
    if (method === "GET" && searchParams.has("prefix")) return this.#list(url, searchParams.get("prefix") ?? "");
    const object = this.objects.get(url);
    if (method === "PUT") return new Response("");
    // The size of an object is read with the range of its first byte.
    if (method !== "GET" || !object) return new Response("", { status: 404 });
    return new Response("x", { status: 206, headers: { "content-range": `bytes 0-0/${object.sizeBytes}` } });
  }

  #begin(url: string): Response {
    this.#begun += 1;
    const id = `upload-${String(this.#begun).padStart(6, "0")}`;
    this.uploads.set(id, { url, parts: new Map(), isKnown: false });
    return xml(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
  }

  #complete(uploadId: string): Response {
    const upload = this.uploads.get(uploadId);
    if (!upload) return NO_SUCH_UPLOAD();
    this.uploads.delete(uploadId);
    const parts = [...upload.parts.values()];
    const sizeBytes = parts.reduce((sum, part) => sum + part.sizeBytes, 0);
    const [lease, ...others] = new Set(parts.map((part) => part.lease));
    this.objects.set(upload.url, { sizeBytes, lease: others.length > 0 ? "several" : (lease ?? "none") });
    return xml(`<CompleteMultipartUploadResult><ETag>"e"</ETag></CompleteMultipartUploadResult>`);
  }

  #list(url: string, prefix: string): Response {
    const bucket = `${url.replace(/\/$/, "")}/`;
    const keys = [...this.objects.keys()].filter((each) => each.startsWith(bucket + prefix));
    const contents = keys.map((key) => `<Contents><Key>${key.slice(bucket.length)}</Key></Contents>`);
    return xml(`<ListBucketResult>${contents.join("")}</ListBucketResult>`);
  }

  #deleteAll(url: string, body: string): Response {
    const bucket = `${url.replace(/\/$/, "")}/`;
    for (const [, key = ""] of body.matchAll(/<Key>([^<]*)<\/Key>/g)) this.objects.delete(bucket + key);
    return xml("<DeleteResult></DeleteResult>");
  }
}

/** A URL without its query, and its query. */
function placeOf(requested: string): { hostname: string; url: string; searchParams: URLSearchParams } {
  const { hostname, origin, pathname, searchParams } = new URL(requested);
  return { hostname, url: origin + pathname, searchParams };
}

const xml = (body: string, status = 200): Response =>
  new Response(`<?xml version="1.0" encoding="UTF-8"?>${body}`, {
    status,
    headers: { "content-type": "application/xml" },
  });
const NO_SUCH_UPLOAD = (): Response => xml("<Error><Code>NoSuchUpload</Code></Error>", 404);
