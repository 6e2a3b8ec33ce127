// Uploads thousands of segments to an S3 server in a process of its own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { AwsClient } from "aws4fetch";
import { expect, it } from "vitest";
import * as z from "zod";
import type { UploadPart } from "#shared/protocol/uploads.ts";
import { runCommand } from "../ffmpeg/run-command.ts";
import { storageAgent } from "../network/storage-agent.ts";
import { RunFiles } from "../run-files/run-files.ts";
import { ffmpeg, planStream, tools } from "../testing/jobs/stream-encode.ts";
import { silentLog } from "../testing/silent-log.ts";
import { openPublication, type PublicationDeps } from "./publication.ts";

const SERVER = new URL("../../local/s3/s3-server.ts", import.meta.url).pathname;
const Secrets = z.object({ s3: z.object({ accessKeyId: z.string(), secretAccessKey: z.string() }) });

async function startS3(home: string) {
  const env = { ...process.env, COPRA_HOME: home, COPRA_S3_PORT: "0" };
  const server = spawn(process.execPath, [SERVER], { env, stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface(server.stdout);
  const [line] = (await once(lines, "line")) as [string];
  const { port } = z.object({ port: z.int() }).parse(JSON.parse(line));
  const { s3 } = Secrets.parse(JSON.parse(await readFile(join(home, "secrets.json"), "utf8")));
  const client = new AwsClient({ ...s3, service: "s3", region: "us-east-1", retries: 0 });
  const base = `http://127.0.0.1:${port}/copra`;
  const partOf = async (file: string, sizeBytes: number): Promise<UploadPart> => {
    const { url } = await client.sign(`${base}/${file}`, { method: "PUT", aws: { signQuery: true } });
    return { url, headers: {}, offset: 0, sizeBytes };
  };
  const requestUploads: PublicationDeps["requestUploads"] = async (files) => ({
    uploads: await Promise.all(
      files.map(async ({ output, file, sizeBytes }) => ({
        output,
        file,
        parts: [await partOf(String(file), sizeBytes)],
      })),
    ),
  });
  /** Names in the bucket. */
  const list = async (): Promise<string[]> => {
    const names: string[] = [];
    for (let marker: string | null = ""; marker !== null; ) {
      const answer: Response = await client.fetch(`${base}?max-keys=1000&marker=${encodeURIComponent(marker)}`);
      const keys = [...(await answer.text()).matchAll(/<Key>(.*?)<\/Key>/g)].map(([, name = ""]) => name);
      names.push(...keys);
      marker = keys.length === 1000 ? (keys.at(-1) ?? null) : null;
    }
    return names;
  };
  return { requestUploads, list, stop: () => server.kill() };
}

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");
/** Heap bytes in use. Buffers of sockets are excluded, because they vary with the machine's load. */
function used(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const SECONDS = 3000;
const SEGMENTS = SECONDS / 2;
/** Descriptions of the segments, and modules that are loaded during the upload. */
const MOST_GROWTH_BYTES = 24e6;
/** Over all uploads, which must not leak. */
const MOST_LEAK_BYTES = 4e6;

it("needs no more memory for thousands of segments than for their descriptions", async () => {
  const folder = await mkdtemp(join(tmpdir(), "copra-scale-"));
  const s3 = await startS3(folder);
  const storages = storageAgent("loopback");
  const signal = new AbortController().signal;
  await ffmpeg(folder, `-f lavfi -i color=s=32x32:r=1:d=${SECONDS} -c:v libx264 -preset ultrafast -g 600 clip.mp4`);
  const params = { hls: { path: "a" }, dash: { path: "b" }, segment_duration: 2, variants: ["mp4:32x32:x"] };
  const planned = await planStream(join(folder, "clip.mp4"), params);
  const files = await RunFiles.create(folder);
  const publication = openPublication(
    { ...planned, files, folder: "run", subtitles: [] },
    {
      requestUploads: s3.requestUploads,
      storages,
      signal,
      log: silentLog,
      ffprobe: tools.ffprobe,
      playable: () => undefined,
    },
  );
  try {
    const before = used();
    const command = { path: tools.ffmpeg.path, argv: planned.argv, reads: [join(folder, "clip.mp4")], stallMs: 60_000 };
    const result = await files.inRun((cwd) => runCommand({ ...command, cwd }));
    expect(result).toEqual({ ok: true });
    await publication.check();
    const waiting = publication.waitingBytes();
    const growth: number[] = [];
    const finished = await publication.finish((bytes) => {
      if (bytes > (waiting * growth.length) / 10) growth.push(used() - before);
    });
    expect(growth).toHaveLength(10);
    expect(Math.max(...growth)).toBeLessThan(MOST_GROWTH_BYTES);
    expect((growth.at(-1) ?? 0) - (growth[0] ?? 0)).toBeLessThan(MOST_LEAK_BYTES);
    expect(finished).toHaveProperty("value.files.length", 2);
    const names = await s3.list();
    for (const kind of ["hls", "dash"]) {
      expect(names.filter((name) => new RegExp(`^${kind}/run/32p/\\d+\\.(ts|m4s)$`).test(name))).toHaveLength(SEGMENTS);
    }
  } finally {
    await publication.stop();
    await storages.destroy();
    s3.stop();
    await rm(folder, { recursive: true, force: true });
  }
});
