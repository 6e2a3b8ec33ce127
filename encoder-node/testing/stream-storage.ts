// What the tests of publishing share: a storage on loopback that keeps what it is sent, and tickets for it.
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import type { FileName, UploadTicket } from "#shared/protocol/protocol.ts";
import type { TaskDeps } from "../task/task-deps.ts";

/** May answer in the storage's place; `count` is how many requests came so far. */
export type Refuse = (name: string, answer: ServerResponse, count: number) => boolean;

export type TestStorage = {
  /** Objects in the order in which they were stored, by `<package>/<file>`; what is no stream's by `<output>.<file>`. */
  readonly objects: Map<string, Buffer>;
  /** Names that were asked for, one list for each time. */
  readonly asked: string[][];
  readonly requests: () => number;
  readonly askUploads: TaskDeps["askUploads"];
  /** Writes all objects below a folder. */
  save(folder: string): Promise<void>;
  close(): void;
};

const nameOf = (output: number, file: FileName): string => (typeof file === "number" ? `${output}.${file}` : file);

export async function startTestStorage(refuse: Refuse = () => false): Promise<TestStorage> {
  const objects = new Map<string, Buffer>();
  const asked: string[][] = [];
  let requests = 0;
  const take = async (request: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const name = (request.url ?? "").slice(1);
    requests += 1;
    if (refuse(name, answer, requests)) return;
    const body = Buffer.concat(await request.toArray().catch(() => []));
    if (body.length !== Number(request.headers["content-length"])) return;
    objects.set(name, body);
    answer.setHeader("etag", `"${objects.size}"`).end();
  };
  const server = createServer((request, answer) => void take(request, answer));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    objects,
    asked,
    requests: () => requests,
    askUploads: async (files) => {
      asked.push(files.map(({ file }) => String(file)));
      return {
        uploads: files.map(
          ({ output, file, sizeBytes }): UploadTicket => ({
            ...{ output, file },
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
