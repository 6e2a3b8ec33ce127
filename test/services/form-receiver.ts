// An upload address as clients have it: takes files in forms, and serves each at the address of its POST.
import { Readable } from "node:stream";
import { serveLoopback } from "../../local/demo/loopback-server.ts";

export type ReceivedForm = {
  /** Path and query. */
  readonly path: string;
  readonly authorization: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** The form's plain fields, which precede the file. */
  readonly fields: Readonly<Record<string, string>>;
  readonly fileName: string;
  readonly contentType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
};

export type FormReceiver = {
  readonly origin: string;
  readonly received: readonly ReceivedForm[];
  close(): Promise<void>;
};

/**
 * Listens on a free loopback port. Requests must have a `content-length`, and their files must be in the field `field`.
 */
export async function startFormReceiver(field: string): Promise<FormReceiver> {
  const received: ReceivedForm[] = [];
  const server = await serveLoopback(async (request, response) => {
    const { method, url: path = "", headers } = request;
    if (method === "GET") {
      const stored = received.findLast((form) => form.path === path);
      response.writeHead(stored ? 200 : 404).end(stored?.bytes);
      return;
    }
    try {
      if (method !== "POST" || headers["content-length"] === undefined) throw new Error("No POST of a known length");
      const body = Readable.toWeb(request) as ReadableStream;
      const form = await new Response(body, {
        headers: { "content-type": String(headers["content-type"]) },
      }).formData();
      const file = form.get(field);
      if (!(file instanceof File)) throw new Error(`No file in ${field}`);
      const { name: fileName, type: contentType } = file;
      const bytes = new Uint8Array(await file.arrayBuffer());
      const entries = [...form.entries()];
      if (entries.at(-1)?.[0] !== field) throw new Error("The file does not come last");
      const fields = Object.fromEntries(entries.slice(0, -1).map(([name, value]) => [name, String(value)]));
      const { authorization } = headers;
      const idempotencyKey = headers["idempotency-key"]?.toString();
      received.push({ path, authorization, idempotencyKey, fields, fileName, contentType, bytes });
      response.writeHead(201).end("thank you");
    } catch (error) {
      response.writeHead(422).end(String(error));
    }
  });
  return { origin: server.origin, received, close: server.close };
}
