// Files are uploaded while real ffmpeg writes them. Their content is the same as with an upload afterwards.
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { OutputReport } from "#shared/protocol/reports.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import type { UploadsRequest, UploadTicket } from "#shared/protocol/uploads.ts";
import { specOf } from "#shared/testing/output-specs.ts";
import { fileFolder, startServer, untilEnd } from "../../../test/fixtures.ts";
import { toolEnvironment } from "../../ffmpeg/sandbox/tool-environment.ts";
import { boxHeader } from "../../mp4/boxes.ts";
import { probeFile } from "../../source/probe/probe.ts";
import { makeHeldFfmpeg, releaseRuns } from "../../testing/processes/held-ffmpeg.ts";
import { sourceAt, startTestNode, type TestNode, tools } from "../../testing/task-deps.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";
import { encode } from "./encode.ts";

const PART = 5 * 2 ** 20;
const SECONDS = 12;
const run = promisify(execFile);
const env = toolEnvironment();

const folder = fileFolder();
let node: TestNode;
/** By output and part. */
let stored: Map<string, Buffer>;
let sentWhileEncoding: Set<string>;
let isEncoding: boolean;
let heldFfmpeg: typeof tools.ffmpeg;
/** Outputs that must have a stored part before the encode ends. */
let awaited: Set<number>;
const server = untilEnd(
  await startServer(async (request, response) => {
    const bytes = Buffer.concat(await request.toArray().catch(() => []));
    const name = request.url ?? "";
    stored.set(name, bytes);
    if (isEncoding) sentWhileEncoding.add(name);
    if (awaited.delete(Number(name.split("/")[1])) && awaited.size === 0) await releaseRuns(folder);
    response.writeHead(200, { etag: `"${name}"` }).end();
  }),
);

beforeAll(async () => {
  node = startTestNode(folder);
  const video = `testsrc2=s=640x360:r=30000/1001:d=${SECONDS},noise=alls=60:allf=t`;
  const coded = ["-c:v", "libx264", "-preset", "ultrafast", "-qp", "20", "-c:a", "aac", "source.mp4"];
  const argv = ["-v", "error", "-f", "lavfi", "-i", video, "-f", "lavfi", "-i", `sine=d=${SECONDS}`, ...coded];
  await run(tools.ffmpeg.path, argv, { cwd: folder, env });
  heldFfmpeg = await makeHeldFfmpeg(folder, "-maxrate");
});
beforeEach(() => {
  [stored, sentWhileEncoding, isEncoding, awaited] = [new Map(), new Set(), true, new Set()];
});
afterAll(async () => {
  await node.close();
});

type Requested = UploadsRequest["files"][number];
const urlOf = (output: number, part: number): string => `${server.origin}/${output}/${part}`;
function inParts({ output, file, sizeBytes, early }: Requested): UploadTicket {
  if (!early) return atOnce({ output, file, sizeBytes });
  const parts = early.parts.map((part) => {
    const size = sizeBytes === 0 ? PART : Math.min(PART, sizeBytes - part * PART);
    return { url: urlOf(output, part), headers: {}, offset: part * PART, sizeBytes: size };
  });
  return { output, file, partBytes: PART, parts };
}
/** Signs all parts at once, as older control planes do. */
const atOnce = ({ output, file, sizeBytes }: Requested): UploadTicket => ({
  output,
  file,
  parts: [{ url: urlOf(output, 0), headers: {}, offset: 0, sizeBytes }],
});

/** Fast encoders whose results do not depend on the load of the machine. */
const FORMATS = ["mp4:mpeg4_24000k", "mov:mpeg4_24000k", "mkv:mpeg4_24000k", "mp4:mpeg4_24000k::frag"];

type Source = { readonly probed: string; readonly read: string; readonly formats: readonly string[] };
const WHOLE: Source = { probed: "source.mp4", read: "source.mp4", formats: FORMATS };

async function encoded(
  ticket: (file: Requested) => UploadTicket,
  changes: Partial<TaskDeps> = {},
  { probed, read, formats }: Source = WHOLE,
) {
  const path = join(folder, read);
  const outputs = formats.map((format, index) => specOf({ format }, index));
  const probe = await probeFile(tools.ffprobe, join(folder, probed));
  const task: TaskOf<"encode"> = { kind: "encode", sourceUrl: "http://127.0.0.1/", probe, outputs };
  const deps = node.depsOf("AAAAAAAAAAAAAA.encode.1", task, {
    ffmpeg: awaited.size > 0 ? heldFfmpeg : tools.ffmpeg,
    sources: sourceAt(path),
    requestUploads: async (files) => ({ uploads: files.map(ticket) }),
    releaseSlot: () => {
      isEncoding = false;
    },
    ...changes,
  });
  const result = await encode(task, deps);
  if (result.kind !== "encode") throw new Error("Not the result of an encode");
  return result.outputs.toSorted((a, b) => a.output - b.output);
}

/** Writes the stored bytes of a report to a file; the ETags of the report name the parts. */
async function fileOf(report: OutputReport | undefined): Promise<{ path: string; bytes: Buffer }> {
  if (report?.status !== "made") throw new Error(JSON.stringify(report));
  const [file] = report.files;
  const bytes = Buffer.concat((file?.etags ?? []).map((etag) => stored.get(etag.slice(1, -1)) ?? Buffer.alloc(0)));
  expect([bytes.length, report.probe?.format.size]).toEqual([file?.sizeBytes, String(bytes.length)]);
  const path = join(folder, `${report.output}-${file?.etags.length}`);
  await writeFile(path, bytes);
  return { path, bytes };
}
/** Returns the hashes of all packets, and checks that they can be decoded. */
async function contentOf(path: string): Promise<string> {
  const read = async (...how: string[]): Promise<string> => {
    const argv = ["-v", "error", "-xerror", "-i", path, "-map", "0", ...how, "-"];
    return (await run(tools.ffmpeg.path, argv, { env })).stdout;
  };
  await read("-f", "null");
  return read("-c", "copy", "-f", "streamhash");
}
const boxesIn = (bytes: Buffer): string[] => {
  const types: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const header = boxHeader(bytes.subarray(at));
    if (!header) break;
    types.push(header.type);
    at += header.sizeBytes;
  }
  return types;
};

it("early uploads have the same packets and frames as later uploads, and an index at the front", async () => {
  awaited = new Set(FORMATS.keys());
  const early = await encoded(inParts);
  const files = await Promise.all(early.map(fileOf));
  // The first parts change until the encode ends.
  expect([...sentWhileEncoding].filter((name) => name.endsWith("/0"))).toEqual([]);
  expect(files.slice(0, 2).map(({ bytes }) => boxesIn(bytes).slice(0, 3))).toEqual([
    ["ftyp", "moov", "free"],
    ["ftyp", "moov", "free"],
  ]);
  const contents = await Promise.all(files.map(({ path }) => contentOf(path)));
  [stored, isEncoding] = [new Map(), true];
  const late = await encoded(atOnce);
  for (const [output, report] of late.entries()) {
    const file = await fileOf(report);
    expect([output, await contentOf(file.path)]).toEqual([output, contents[output]]);
    const [a, b] = [early[output], report].map((each) => (each?.status === "made" ? each.probe : null));
    expect(a?.streams.map(({ bit_rate: _, ...stream }) => stream)).toEqual(
      b?.streams.map(({ bit_rate: _, ...stream }) => stream),
    );
    if (output < 2) expect(boxesIn(file.bytes).slice(0, 3)).toEqual(["ftyp", "moov", output === 0 ? "free" : "wide"]);
  }
});

it("early uploads are given up when the result is not as planned", async () => {
  await run(tools.ffmpeg.path, ["-v", "error", "-i", "source.mp4", "-t", "9", "-c", "copy", "short.mp4"], {
    cwd: folder,
    env,
  });
  const requested: Requested[] = [];
  const ticket = (file: Requested): UploadTicket => {
    requested.push(file);
    return inParts(file);
  };
  const source = { probed: "source.mp4", read: "short.mp4", formats: FORMATS.slice(0, 1) };
  awaited = new Set([0]);
  expect(await encoded(ticket, {}, source)).toMatchObject([{ status: "failed", failure: { code: "encoding_failed" } }]);
  expect(requested.every(({ sizeBytes }) => sizeBytes === 0)).toBe(true);
});

it("early uploads are sent again at once when the index needs more bytes than were reserved", async () => {
  const tags = ["title", "comment"].flatMap((name) => ["-metadata", `${name}=${"t".repeat(60_000)}`]);
  await run(tools.ffmpeg.path, ["-v", "error", "-i", "source.mp4", "-c", "copy", ...tags, "tags.mp4"], {
    cwd: folder,
    env,
  });
  const source = { probed: "tags.mp4", read: "tags.mp4", formats: FORMATS.slice(0, 1) };
  awaited = new Set([0]);
  const [report] = await encoded(inParts, {}, source);
  const { path, bytes } = await fileOf(report);
  expect(boxesIn(bytes)).toEqual(["ftyp", "moov", "free", "free", "mdat"]);
  expect(report).toMatchObject({ files: [{ etags: [expect.any(String)] }] });
  await contentOf(path);
});

it("early uploads end all requests when the work is no longer needed", async () => {
  const stop = new AbortController();
  const requested: Requested[] = [];
  const ticket = (file: Requested): UploadTicket => {
    requested.push(file);
    return inParts(file);
  };
  const cancelled = encoded(ticket, {
    signal: stop.signal,
    progress: (_, fraction) => {
      if (fraction > 0.8) stop.abort(new Error("cancelled"));
    },
  });
  await expect(cancelled).rejects.toThrow("cancelled");
  const before = requested.length;
  await new Promise((waited) => setTimeout(waited, 1500));
  expect(requested.length).toBe(before);
  expect(requested.every(({ sizeBytes }) => sizeBytes === 0)).toBe(true);
});
