import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { fileFolder } from "../../../test/fixtures.ts";
import { runCommand } from "../../ffmpeg/run-command.ts";
import type { CommandResult } from "../../ffmpeg/run-tool.ts";
import { openMachineLoopback } from "../../ffmpeg/sandbox/loopback-network.ts";
import { toolEnvironment } from "../../ffmpeg/sandbox/tool-environment.ts";
import { few } from "../../testing/few.ts";
import { makeClip, REFERENCE_FFMPEG, tested } from "../../testing/plan-runs.ts";
import { closeServers, noise, sendRange, serve, type TestServer } from "../../testing/range-server.ts";
import { SourceFile } from "../fetch/source-file.ts";
import { readFrameIndex } from "../frame-index/frame-index.ts";
import { RANGE_INPUT_OPTIONS, type RangeInput, type RangeProxy, startRangeProxy } from "./range-proxy.ts";

const QUICK = { stallMs: 5_000, backoff: { firstMs: 5, maxMs: 5 } };
const BLOCK = 64 * 1024;
const { ffprobe } = tested;
const never = new AbortController().signal;

const folder = fileFolder();
let proxy: RangeProxy;
/** On the machine's loopback, which this process can reach too. */
let machineProxy: RangeProxy;
let files = 0;
const sources: SourceFile[] = [];
const clip = "-f lavfi -i testsrc2=s=320x180:r=25:d=12,noise=alls=40:allf=t -f lavfi -i sine=d=12";
const codecs = "-c:v libx264 -preset ultrafast -g 50 -bf 2 -b:v 4M -c:a aac -flags +bitexact";
const CLIPS = ["last.mp4", "first.mp4", "clip.mkv", "clip.ts"];

beforeAll(async () => {
  [proxy, machineProxy] = await Promise.all([startRangeProxy(), startRangeProxy(openMachineLoopback)]);
  await makeClip(folder, "last.mp4", `${clip} ${codecs}`);
  await makeClip(folder, "first.mp4", "-i last.mp4 -c copy -movflags +faststart");
  await makeClip(folder, "clip.mkv", "-i last.mp4 -c copy");
  await makeClip(folder, "clip.ts", "-i last.mp4 -c copy");
});
afterEach(async () => {
  await Promise.all(sources.splice(0).map((source) => source.close()));
  closeServers();
});
afterAll(async () => {
  await Promise.all([proxy.close(), machineProxy.close()]);
});

type Opened = { readonly input: RangeInput; readonly server: TestServer; readonly source: SourceFile };

/** A source on a server, served by the proxy. The server's connections break at the byte `deadFrom`. */
async function openSource(bytes: Buffer, deadFrom = Number.POSITIVE_INFINITY, via = proxy): Promise<Opened> {
  const server = await serve((request, response) => {
    const start = Number(/\d+/.exec(request.headers.range ?? "")?.[0]);
    sendRange(bytes, request, response, { dropAfter: Math.max(1, deadFrom - start) });
  });
  const pieces = [{ url: server.origin, sizeBytes: bytes.length }];
  const limits = { allow: "loopback", maxBytes: 1e9, timeouts: QUICK, blockBytes: BLOCK } as const;
  const source = await SourceFile.open({ path: join(folder, `${++files}.blocks`), pieces, ...limits });
  sources.push(source);
  return { input: via.open(source), server, source };
}

describe("the server", () => {
  const CLIP = noise(300_000);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });

  async function send(url: string, method = "GET", range?: string) {
    const sent = httpRequest(url, { method, agent, headers: range === undefined ? {} : { range } }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    const body = Buffer.concat(await response.toArray());
    const { "content-length": length, "content-range": part, connection } = response.headers;
    return { status: response.statusCode, length, part, body, connection, port: response.socket?.localPort };
  }

  few(1).each([
    ["GET", undefined, 200, 0, 299_999, undefined],
    ["HEAD", undefined, 200, 0, 299_999, undefined],
    ["GET", "bytes=0-", 206, 0, 299_999, "bytes 0-299999/300000"],
    ["HEAD", "bytes=5-9", 206, 5, 9, "bytes 5-9/300000"],
    ["GET", "bytes=65000-140000", 206, 65_000, 140_000, "bytes 65000-140000/300000"],
    ["GET", "bytes=299999-400000", 206, 299_999, 299_999, "bytes 299999-299999/300000"],
    ["GET", "bytes=-10", 206, 299_990, 299_999, "bytes 299990-299999/300000"],
    ["GET", "bytes=0-1,5-6", 200, 0, 299_999, undefined],
  ])("answers %s of %s", async (method, range, status, start, end, part) => {
    const { input } = await openSource(CLIP, Number.POSITIVE_INFINITY, machineProxy);
    const body = method === "HEAD" ? Buffer.alloc(0) : CLIP.subarray(start, end + 1);
    const answer = await send(input.url, method, range);
    expect(answer).toMatchObject({ status, part, length: String(end + 1 - start), connection: "keep-alive" });
    expect(answer.body.equals(body)).toBe(true);
  });

  it("rejects ranges after the end, other methods, and unknown URLs", async () => {
    const { input } = await openSource(CLIP, Number.POSITIVE_INFINITY, machineProxy);
    expect(await send(input.url, "GET", "bytes=300000-")).toMatchObject({ status: 416, part: "bytes */300000" });
    expect(await send(input.url, "POST")).toMatchObject({ status: 405 });
    expect(new URL(input.url).pathname).toMatch(/^\/[0-9a-f]{32}$/);
    expect(await send(new URL("/clip", input.url).href)).toMatchObject({ status: 404 });
    input.close();
    expect(await send(input.url)).toMatchObject({ status: 404 });
  });

  it("listens on loopback only, and reuses connections", async () => {
    const { input } = await openSource(CLIP, Number.POSITIVE_INFINITY, machineProxy);
    expect(new URL(input.url).hostname).toBe("127.0.0.1");
    const ports = [await send(input.url), await send(input.url)].map(({ port }) => port);
    expect(ports[0]).toBe(ports[1]);
  });
});

const decoding = (input: readonly string[]) => ["-v", "error", "-nostdin", ...input, "-f", "framemd5", "out.txt", "-y"];
const decodeUrl = ({ url, network }: RangeInput, signal: AbortSignal, stallMs = 60_000): Promise<CommandResult> => {
  const argv = decoding([...RANGE_INPUT_OPTIONS, "-i", url]);
  return runCommand({ path: REFERENCE_FFMPEG, argv, cwd: folder, stallMs, signal, network });
};
const framesOf = (): Promise<string> => readFile(join(folder, "out.txt"), "utf8");

describe("ffmpeg", () => {
  few(1).each(CLIPS)("reads %s like a file, and each byte is fetched at most once", async (name) => {
    const bytes = await readFile(join(folder, name));
    const { input, source, server } = await openSource(bytes);
    expect(await decodeUrl(input, input.failed)).toEqual({ ok: true });
    const frames = await framesOf();
    const argv = decoding(["-i", name]);
    await promisify(execFile)(REFERENCE_FFMPEG, argv, { cwd: folder, env: toolEnvironment() });
    expect(frames).toBe(await framesOf());
    expect(frames.split("\n").length).toBeGreaterThan(300);
    expect(source.transfer.received).toBeLessThanOrEqual(bytes.length);
    expect(new Set(server.seen.map(({ headers }) => headers.range)).size).toBe(server.seen.length);
  });

  few(1).each(CLIPS)("never takes a broken source for a short one: %s", async (name) => {
    const bytes = await readFile(join(folder, name));
    for (const share of [0.02, 0.5, 0.98]) {
      const { input } = await openSource(bytes, Math.floor(bytes.length * share));
      expect(await decodeUrl(input, input.failed)).toMatchObject({ ok: false, reason: "aborted" });
      expect(input.failed.reason).toMatchObject({ name: "AppError", code: "input_unreachable" });
      input.close();
    }
  });

  it("does not exit when the failure is ignored", async () => {
    const bytes = await readFile(join(folder, "clip.mkv"));
    const { input } = await openSource(bytes, bytes.length >> 1);
    expect(await decodeUrl(input, never, 1000)).toMatchObject({ ok: false, reason: "stalled" });
  });

  it("opens no URL that a source contains", async () => {
    const other = await serve((_, response) => void response.end());
    const playlist = `#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n${other.origin}/clip.ts\n#EXT-X-ENDLIST\n`;
    const { input } = await openSource(Buffer.from(playlist));
    expect(await decodeUrl(input, input.failed)).toMatchObject({ ok: false, reason: "exit" });
    expect(other.seen).toEqual([]);
  });

  it("ignores a proxy in the environment", async () => {
    const bytes = await readFile(join(folder, "clip.mkv"));
    const { input } = await openSource(bytes, Number.POSITIVE_INFINITY, machineProxy);
    const env = { ...toolEnvironment(), http_proxy: "http://127.0.0.1:9" };
    await promisify(execFile)(REFERENCE_FFMPEG, decoding([...RANGE_INPUT_OPTIONS, "-i", input.url]), {
      cwd: folder,
      env,
    });
    expect((await framesOf()).split("\n").length).toBeGreaterThan(300);
  });
});

describe("ffprobe", () => {
  few(1).each(CLIPS)("finds the same frames in %s", async (name) => {
    const path = join(folder, name);
    const { input } = await openSource(await readFile(path));
    const reading = await readFrameIndex(ffprobe, input, 0, never);
    expect(reading).toMatchObject({ ok: true });
    expect(reading).toEqual(await readFrameIndex(ffprobe, { path }, 0, never));
  });

  it("never takes a broken source for a short source", async () => {
    for (const name of CLIPS) {
      const bytes = await readFile(join(folder, name));
      const { input } = await openSource(bytes, bytes.length >> 1);
      await expect(readFrameIndex(ffprobe, input, 0, never)).rejects.toMatchObject({ code: "input_unreachable" });
    }
  });
});
