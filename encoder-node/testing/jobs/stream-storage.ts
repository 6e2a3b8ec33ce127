// Support for publishing tests: a storage on loopback, and tickets for it.
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import type { FileName, UploadTicket } from "#shared/protocol/uploads.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";

/** May respond in place of the storage; `count` is the number of requests so far. True when it handles the request. */
export type Respond = (name: string, response: ServerResponse, count: number) => boolean;

export type TestStorage = {
  /**
   * Objects in the order in which they were stored, by `<package>/<file>` for streams, and by `<output>.<file>` for
   * other files.
   */
  readonly objects: Map<string, Buffer>;
  /** Every object that was stored, in order: a name may be in it several times. */
  readonly stored: { readonly name: string; readonly body: Buffer }[];
  /** The names of growing playlists among the requests for uploads. */
  readonly growing: Set<string>;
  /** The names of each request for uploads. */
  readonly requested: string[][];
  readonly requests: () => number;
  readonly requestUploads: TaskDeps["requestUploads"];
  /** Writes all objects below a folder. */
  save(folder: string): Promise<void>;
  close(): void;
};

const nameOf = (output: number, file: FileName): string => (typeof file === "number" ? `${output}.${file}` : file);

export async function startTestStorage(respond: Respond = () => false): Promise<TestStorage> {
  const objects = new Map<string, Buffer>();
  const stored: TestStorage["stored"] = [];
  const growing = new Set<string>();
  const requested: string[][] = [];
  let requests = 0;
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const name = (request.url ?? "").slice(1);
    requests += 1;
    if (respond(name, response, requests)) return;
    const body = Buffer.concat(await request.toArray().catch(() => []));
    if (body.length !== Number(request.headers["content-length"])) return;
    objects.set(name, body);
    stored.push({ name, body });
    response.setHeader("etag", `"${objects.size}"`).end();
  };
  const server = createServer((request, response) => void receive(request, response));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    objects,
    stored,
    growing,
    requested,
    requests: () => requests,
    requestUploads: async (files) => {
      requested.push(files.map(({ file }) => String(file)));
      for (const file of files) if (file.growing) growing.add(String(file.file));
      return {
        uploads: files.map(
          ({ output, file, sizeBytes }): UploadTicket => ({
            output,
            file,
            parts: [{ url: `${origin}/${nameOf(output, file)}`, headers: {}, offset: 0, sizeBytes }],
          }),
        ),
      };
    },
    async save(folder) {
      for (const [name, body] of objects) {
        await mkdir(dirname(join(folder, name)), { recursive: true });
        await writeFile(join(folder, name), body);
      }
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
