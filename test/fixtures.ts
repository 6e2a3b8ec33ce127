// Folders and servers of tests in Node: removed and closed after the test or the file that uses them.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, test } from "vitest";

export type TestServer = {
  /** `http://127.0.0.1:<port>`, without a slash. */
  readonly origin: string;
  readonly port: number;
  /** Sets the handler of the requests from now on; without one, requests wait. */
  handle(listener: RequestListener): void;
  /** Closes the server and all open connections. */
  close(): Promise<void>;
};

export async function startServer(listener: RequestListener = () => undefined): Promise<TestServer> {
  let handler = listener;
  const server = createServer((request, response) => handler(request, response));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    handle: (next) => {
      handler = next;
    },
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

const newFolder = (): string => mkdtempSync(join(tmpdir(), "copra-test-"));
const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true, maxRetries: 10 });

/** A folder that all tests of the file share. */
export function fileFolder(): string {
  const folder = newFolder();
  afterAll(() => remove(folder));
  return folder;
}

/** A folder that is empty before each test of the file. */
export function emptiedFolder(): string {
  const folder = fileFolder();
  afterEach(() => {
    remove(folder);
    mkdirSync(folder);
  });
  return folder;
}

/** Returns the server, which is closed after the last test of the file. */
export function untilEnd<Server extends { close(): unknown }>(server: Server): Server {
  afterAll(async () => void (await server.close()));
  return server;
}

/** `it` whose tests can ask for a fresh `folder` and a `server` of their own. `it.for(rows)` has them, too. */
export const it = test
  .extend("folder", ({ onTestFinished }) => {
    const folder = newFolder();
    onTestFinished(() => remove(folder));
    return folder;
  })
  .extend("server", async ({ onTestFinished }) => {
    const server = await startServer();
    onTestFinished(() => server.close());
    return server;
  });
