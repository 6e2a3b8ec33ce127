// Measures how soon the chunks of a large source begin, and how much of it the node that inspects it reads.
// `node local/bootstrap.mjs bench/first-chunk.ts [MB per second of the host] [MB per second of one connection]`, for
// example `10 2.5`: a source of 150 MB, first copied to the scratch bucket, then read at its origin.
import { execFile } from "node:child_process";
import { mkdtemp, open, rm, stat } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import * as z from "zod";
import { locateFfmpeg } from "../encoder-node/ffmpeg/build/locate.ts";
import { apiClient } from "../local/demo/api-client.ts";
import { storageOf } from "../local/demo/demo-job.ts";
import { serveLoopback } from "../local/demo/loopback-server.ts";
import { LOCAL_SERVICE } from "../local/home/service-settings.ts";
import { basicAuth } from "../local/stack/access.ts";
import { startStack } from "../local/stack/stack.ts";
import { parseRange } from "../shared/network/http-headers.ts";

const run = promisify(execFile);
const NODES = 2;
const SECONDS = 120;
const TICK_MS = 50;
const LIMIT_MS = 170_000;

/** Serves ranges of a file at limited rates in bytes per second, of all connections and of each one. */
async function serveSlowly(path: string, perHost: number, perConnection: number) {
  const file = await open(path);
  const { size } = await file.stat();
  let sentBytes = 0;
  let connections = 0;
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const range = parseRange(request.headers.range, size);
    const { start, end } = range && range !== "beyond" ? range : { start: 0, end: size - 1 };
    const part = range ? { "content-range": `bytes ${start}-${end}/${size}` } : { "accept-ranges": "bytes" };
    response.writeHead(range ? 206 : 200, { etag: '"1"', "content-length": end - start + 1, ...part });
    connections += 1;
    for (let at = start; at <= end && !response.destroyed; ) {
      const rate = Math.min(perConnection, perHost / connections);
      const length = Math.min(end + 1 - at, Math.ceil((rate * TICK_MS) / 1000));
      const { buffer } = await file.read(Buffer.alloc(length), 0, length, at);
      response.write(buffer);
      sentBytes += length;
      at += length;
      if (at <= end) await sleep(TICK_MS);
    }
    connections -= 1;
    response.end();
  };
  const server = await serveLoopback((request, response) => {
    response.on("error", () => undefined);
    void respond(request, response);
  });
  const close = async (): Promise<void> => {
    await server.close();
    await file.close();
  };
  return { origin: server.origin, sentBytes: () => sentBytes, close };
}

const Tasks = z.object({
  tasks: z.array(z.object({ kind: z.string(), status: z.string(), started_at: z.string().nullish() })),
});

/** Submits a job and cancels it once a chunk has begun. Seconds from the start of the inspection. */
async function firstChunk(url: string, readOrigin: boolean, sent: () => number): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "copra-first-chunk-"));
  const service = { ...LOCAL_SERVICE, variables: { ULTRAFAST_READ_ORIGIN: String(readOrigin) } };
  const stack = await startStack({ home, port: 0, s3Port: 0, nodes: NODES, service }, { notify: () => {} });
  try {
    const { api, apiKey } = stack.describe();
    const call = (path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(`${api}${path}`, { ...init, headers: { authorization: basicAuth(apiKey) } });
    const before = sent();
    const { id } = await apiClient(api, apiKey).submit({
      input: { url },
      storage: storageOf(stack.describe()),
      notification: { type: "http", url: "http://127.0.0.1:9/" },
      outputs: { "mp4:240p": { path: "240p.mp4" } },
      settings: { ultrafast: true },
    });
    for (const until = Date.now() + LIMIT_MS; Date.now() < until; await sleep(50)) {
      const { tasks } = Tasks.parse(await (await call(`/jobs/${id}/tasks`)).json());
      const startOf = (kind: string): number =>
        Date.parse(tasks.find((task) => task.kind === kind && task.started_at)?.started_at ?? "");
      const seconds = (startOf("chunk") - startOf("inspect")) / 1000;
      if (Number.isNaN(seconds)) continue;
      const megabytes = (sent() - before) / 1e6;
      await call(`/jobs/${id}`, { method: "DELETE" });
      return `${seconds.toFixed(1)} | ${megabytes.toFixed(0)}`;
    }
    return "none | ";
  } finally {
    await stack.stop(0);
    await rm(home, { recursive: true, force: true });
  }
}

async function main(perHost = "10", perConnection = "2.5"): Promise<void> {
  const { ffmpeg } = await locateFfmpeg(process.env);
  const folder = await mkdtemp(join(tmpdir(), "copra-source-"));
  const source = join(folder, "source.mp4");
  const video = `testsrc2=s=640x360:r=30000/1001,noise=alls=40:allf=t,format=yuv420p`;
  const inputs = ["-f", "lavfi", "-i", video, "-f", "lavfi", "-i", "anoisesrc=a=0.1", "-t", String(SECONDS)];
  const encoded = ["-c:v", "libx264", "-preset", "ultrafast", "-b:v", "10M", "-g", "60", "-c:a", "aac"];
  await run(ffmpeg.path, ["-v", "error", "-y", ...inputs, ...encoded, source]);
  const { size } = await stat(source);
  const server = await serveSlowly(source, 1e6 * Number(perHost), 1e6 * Number(perConnection));
  try {
    console.log(`${Math.round(size / 1e6)} MB, ${perHost} MB/s from the host, ${perConnection} MB/s per connection:`);
    console.log("| the source is | first chunk after s | MB sent by then |");
    console.log("| --- | --- | --- |");
    console.log(`| read at its origin | ${await firstChunk(server.origin, true, server.sentBytes)} |`);
    console.log(`| copied first | ${await firstChunk(server.origin, false, server.sentBytes)} |`);
  } finally {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

await main(...process.argv.slice(2));
