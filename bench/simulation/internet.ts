// What the Worker's own requests reach: storages in the manner of S3, the scratch bucket, and receivers of webhooks.
import type { VirtualTime } from "./virtual-time.ts";

/** A host of this name accepts webhooks. */
export const WEBHOOK_HOST = "hooks.example.com";
export const STORAGE_HOST = "s3.example.com";

export type Delivered = { readonly id: string; readonly url: string; readonly body: string };

export class Internet {
  readonly #time: VirtualTime;
  readonly #latencyMs: number;
  #uploads = 0;
  /** Requests of the Worker, by kind. */
  requests = 0;
  readonly delivered: Delivered[] = [];
  /** Receives each webhook; false: the receiver fails. */
  receive: (delivered: Delivered) => boolean = (one) => {
    this.delivered.push(one);
    return true;
  };

  constructor(time: VirtualTime, latencyMs: number) {
    this.#time = time;
    this.#latencyMs = latencyMs;
  }

  /** Replaces `fetch`. */
  install(): void {
    const answer = async (target: Request | string | URL, init?: RequestInit): Promise<Response> => {
      const request = target instanceof Request ? target : new Request(target, init);
      this.requests += 1;
      const body = request.body ? await request.text() : "";
      await this.#time.sleep(this.#latencyMs);
      return this.#answer(request, body);
    };
    Object.assign(globalThis, { fetch: answer });
  }

  #answer({ url, method, headers }: Request, body: string): Response {
    const { hostname, searchParams } = new URL(url);
    if (hostname === WEBHOOK_HOST) {
      const isTaken = this.receive({ id: headers.get("webhook-id") ?? "", url, body });
      return new Response(isTaken ? "{}" : "", { status: isTaken ? 200 : 503 });
    }
    if (method === "POST" && searchParams.has("uploads")) {
      this.#uploads += 1;
      return xml(
        `<InitiateMultipartUploadResult><UploadId>upload-${this.#uploads}</UploadId></InitiateMultipartUploadResult>`,
      );
    }
    if (method === "POST" && searchParams.has("uploadId")) {
      return xml(`<CompleteMultipartUploadResult><ETag>"e"</ETag></CompleteMultipartUploadResult>`);
    }
    if (method === "DELETE") return new Response(null, { status: 204 });
    if (method === "GET" && searchParams.has("prefix")) return xml("<ListBucketResult></ListBucketResult>");
    return new Response("", { status: 200 });
  }
}

const xml = (body: string): Response =>
  new Response(`<?xml version="1.0" encoding="UTF-8"?>${body}`, { headers: { "content-type": "application/xml" } });
