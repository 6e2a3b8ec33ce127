// A source that arrives slowly is encoded while it arrives, with real ffmpeg.
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { parseRange } from "#shared/network/http-headers.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import type { UploadsRequest } from "#shared/protocol/uploads.ts";
import { specOf } from "#shared/testing/output-specs.ts";
import { fileFolder, startServer, untilEnd } from "../../../test/fixtures.ts";
import { toolEnvironment } from "../../ffmpeg/sandbox/tool-environment.ts";
import { startTestNode, type TestNode, tools } from "../../testing/task-deps.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";
import { inspect } from "../inspect/inspect.ts";
import { encode } from "./encode.ts";

const BYTES_PER_SECOND = 3_000_000;
const SLICE_BYTES = 40_000;

const folder = fileFolder();
let node: TestNode;
let clip: Buffer;
/** The byte from which the host breaks off connections. */
let endsAt: number;
/** Resolves when the host may send the last tenth of the source. */
let mayEnd: Promise<void>;
let stored: Buffer[];
let freeAt = 0;

const server = untilEnd(
  await startServer(async (request, response) => {
    if (request.method === "PUT") {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part);
      stored.push(Buffer.concat(parts));
      return void response.writeHead(200, { etag: '"e"' }).end();
    }
    const range = parseRange(request.headers.range, clip.length);
    const { start, end } = range && range !== "beyond" ? range : { start: 0, end: clip.length - 1 };
    const part = range ? { "content-range": `bytes ${start}-${end}/${clip.length}` } : {};
    const headers = { etag: '"clip"', "accept-ranges": "bytes", "content-length": end + 1 - start };
    response.on("error", () => undefined).writeHead(range ? 206 : 200, { ...headers, ...part });
    for (let at = start; at <= end && !response.destroyed; at += SLICE_BYTES) {
      if (at >= endsAt) return void response.destroy();
      if (at >= clip.length * 0.9) await mayEnd;
      const slice = clip.subarray(at, Math.min(at + SLICE_BYTES, end + 1));
      freeAt = Math.max(freeAt, performance.now()) + (slice.length / BYTES_PER_SECOND) * 1000;
      await sleep(Math.max(0, freeAt - performance.now()));
      response.write(slice);
    }
    response.end();
  }),
);

beforeAll(async () => {
  const video = "testsrc2=s=640x360:r=30000/1001:d=8,noise=alls=30:allf=t";
  const coded = ["-c:v", "libx264", "-preset", "ultrafast", "-qp", "27", "-c:a", "aac", "-movflags", "+faststart"];
  const argv = ["-v", "error", "-f", "lavfi", "-i", video, "-f", "lavfi", "-i", "sine=d=8", ...coded, "clip.mp4"];
  await promisify(execFile)(tools.ffmpeg.path, argv, { cwd: folder, env: toolEnvironment() });
  clip = await readFile(join(folder, "clip.mp4"));
});
beforeEach(() => {
  node = startTestNode(folder);
  [endsAt, mayEnd, stored] = [Number.POSITIVE_INFINITY, Promise.resolve(), []];
});
afterEach(() => node.close());

const origin = (): string => server.origin;
const ticket = ({ output, file, sizeBytes }: UploadsRequest["files"][number]) => ({
  output,
  file,
  parts: [{ url: `${origin()}/${output}`, headers: {}, offset: 0, sizeBytes }],
});

/**
 * Inspects and encodes the source; returns its probe. The host sends the end of the source after the first encoded
 * frame.
 */
async function inspectedAndEncoded(job: string) {
  const firstFrame = Promise.withResolvers<void>();
  mayEnd = firstFrame.promise;
  const sourceUrl = `${origin()}/clip.mp4`;
  const inspection: TaskOf<"inspect"> = { kind: "inspect", sourceUrl, chunking: null };
  const inspected = await inspect(inspection, node.depsOf(`${job}.inspect.1`, inspection, {}));
  if (inspected.kind !== "inspect") throw new Error("Not the result of an inspection");
  const outputs = [specOf({ format: "mp4:240p::quality=3" }, 0), specOf({ format: "jpg:160x", number: 3 }, 1)];
  const task: TaskOf<"encode"> = { kind: "encode", sourceUrl, probe: inspected.probe, outputs };
  const deps = node.depsOf(`${job}.encode.1`, task, {
    requestUploads: async (files) => ({ uploads: files.map(ticket) }),
    progress: (stage, fraction) => {
      if (stage === "encoding" && fraction > 0) firstFrame.resolve();
    },
  });
  await encode(task, deps);
  return inspected.probe;
}

it("a slow source is encoded while it arrives, with the same result as from the disk", async () => {
  const probe = await inspectedAndEncoded("AAAAAAAAAAAAAA");
  const files = await framesOf(stored);
  await node.close();
  node = startTestNode(folder);
  stored = [];
  const sourceUrl = `${origin()}/clip.mp4`;
  const inspection: TaskOf<"inspect"> = { kind: "inspect", sourceUrl, chunking: null };
  const deps = node.depsOf("BBBBBBBBBBBBBB.inspect.1", inspection, {});
  const whole = await inspect(inspection, { ...deps, sources: fetching(deps) });
  expect(whole).toEqual({ kind: "inspect", probe });
  const task: TaskOf<"encode"> = {
    kind: "encode",
    sourceUrl,
    probe,
    outputs: [specOf({ format: "mp4:240p::quality=3" }, 0), specOf({ format: "jpg:160x", number: 3 }, 1)],
  };
  const encodeDeps = node.depsOf("BBBBBBBBBBBBBB.encode.1", task, {
    requestUploads: async (wanted) => ({ uploads: wanted.map(ticket) }),
  });
  await encode(task, { ...encodeDeps, sources: fetching(encodeDeps) });
  expect(await framesOf(stored)).toEqual(files);
});

/** The hashes of the decoded frames of each file. */
async function framesOf(files: readonly Buffer[]): Promise<string[]> {
  const frames = files.map(async (bytes, at) => {
    const path = join(folder, `stored-${at}`);
    await writeFile(path, bytes);
    const argv = ["-v", "error", "-i", path, "-f", "framemd5", "-"];
    const { stdout } = await promisify(execFile)(tools.ffmpeg.path, argv, { env: toolEnvironment(), maxBuffer: 1e8 });
    return stdout;
  });
  return (await Promise.all(frames)).toSorted();
}

/** Waits for the whole source, even if it is slow. */
const fetching = ({ sources }: TaskDeps): TaskDeps["sources"] => ({
  acquire: (key, options, { startsEarly: _, ...how }) => sources.acquire(key, options, how),
  open: (key, options) => sources.open(key, options),
  clear: () => sources.clear(),
});

it("stores nothing when a slow source breaks off for good", async () => {
  endsAt = Math.round(clip.length * 0.7);
  await expect(inspectedAndEncoded("CCCCCCCCCCCCCC")).rejects.toMatchObject({ code: "input_unreachable" });
  expect(stored).toEqual([]);
});
