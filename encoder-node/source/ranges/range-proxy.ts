// Lets ffmpeg read sources that are not on this machine's disk: over HTTP from this very process, on loopback only.
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { ALLOWED_DECODERS } from "#shared/media/decoders.ts";
import { ALLOWED_DEMUXERS } from "#shared/media/demuxers.ts";
import { parseRange } from "#shared/network/byte-range.ts";
import { type LoopbackNetwork, openLoopback } from "../../ffmpeg/sandbox/loopback-network.ts";
import type { BlockCache } from "./block-cache.ts";

/**
 * Options of ffmpeg and ffprobe before an input that is the URL of a `RangeInput`.
 *
 * None of them makes ffmpeg notice that its input broke off: ffmpeg 7.0 ends with 0 and a short film, with mp4, mkv and
 * MPEG-TS alike. Only the global `-xerror` does, which also fails on every damaged picture that is otherwise made do with. So
 * an input that fails never ends, and `RangeInput.failed` tells. For the same reason there is no `-rw_timeout`.
 */
export const RANGE_INPUT_OPTIONS: readonly string[] = [
  ...["-protocol_whitelist", "http,tcp", "-format_whitelist", ALLOWED_DEMUXERS],
  ...["-codec_whitelist", ALLOWED_DECODERS],
  // What is no http URL here overrides a `http_proxy` of the environment.
  ...["-http_proxy", "none", "-icy", "0"],
  // What lies in the socket's buffers when ffmpeg seeks was fetched for nothing.
  ...["-recv_buffer_size", "65536"],
];

/** A source as one run of ffmpeg sees it. */
export type RangeInput = {
  readonly url: string;
  /** The network in which the URL means something. */
  readonly network: LoopbackNetwork;
  /**
   * Aborted, with the AppError as its reason, when bytes that were asked for cannot be had. The answer then stands still,
   * so the run has to be killed, and what it made is void.
   */
  readonly failed: AbortSignal;
  /** The URL means nothing any more; connections are cut. */
  close(): void;
};

export interface RangeProxy {
  open(source: Pick<BlockCache, "sizeBytes" | "reader">): RangeInput;
  close(): Promise<void>;
}

const TOKEN_BYTES = 16;
/** Read from disk and sent at a time. */
const SEND_BYTES = 256 * 1024;

type Opened = {
  readonly source: Pick<BlockCache, "sizeBytes" | "reader">;
  readonly failed: AbortController;
  readonly answers: Set<ServerResponse>;
};

/** Listens on any free port of 127.0.0.1, in a network of its own where the system can do that. */
export async function startRangeProxy(openNetwork = openLoopback): Promise<RangeProxy> {
  const opened = new Map<string, Opened>();
  const server = createServer((request, response) => {
    const input = opened.get(request.url ?? "");
    if (input) void answer(request, response, input);
    else response.writeHead(404).end();
  });
  const { network, listener, close } = await openNetwork();
  listener.on("connection", (socket) => server.emit("connection", socket));
  const { port } = listener.address() as AddressInfo;

  return {
    open(source) {
      const path = `/${randomBytes(TOKEN_BYTES).toString("hex")}`;
      const input: Opened = { source, failed: new AbortController(), answers: new Set() };
      opened.set(path, input);
      return {
        url: `http://127.0.0.1:${port}${path}`,
        network,
        failed: input.failed.signal,
        close() {
          opened.delete(path);
          for (const response of input.answers) response.destroy();
        },
      };
    },
    async close() {
      close();
      server.closeAllConnections();
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, input: Opened): Promise<void> {
  const { sizeBytes } = input.source;
  const common = { "accept-ranges": "bytes", "content-type": "application/octet-stream" };
  if (request.method !== "GET" && request.method !== "HEAD") {
    return void response.writeHead(405, { allow: "GET, HEAD" }).end();
  }
  const range = parseRange(request.headers.range, sizeBytes);
  if (range === "beyond") {
    return void response.writeHead(416, { ...common, "content-range": `bytes */${sizeBytes}` }).end();
  }
  const { start, end } = range ?? { start: 0, end: sizeBytes - 1 };
  const part = range ? { "content-range": `bytes ${start}-${end}/${sizeBytes}` } : {};
  response.writeHead(range ? 206 : 200, { ...common, ...part, "content-length": end - start + 1 });
  if (request.method === "HEAD") return void response.end();
  input.answers.add(response);
  response.once("close", () => input.answers.delete(response));
  // Readers go as they please.
  response.on("error", () => undefined);
  try {
    if (await send(response, input, start, end)) response.end();
  } catch (error) {
    // The response is left as it stands: any end of it would be taken for the film's.
    const failure = new AppError("node_failed", `The node cannot read the input (${messageOf(error)}).`, {
      cause: error,
    });
    input.failed.abort(error instanceof AppError ? error : failure);
  }
}

/** False when the reader has gone. */
async function send(response: ServerResponse, { source }: Opened, start: number, end: number): Promise<boolean> {
  const reader = source.reader();
  // One at a time: it is used again when the socket has it.
  const bytes = Buffer.allocUnsafeSlow(Math.min(SEND_BYTES, end - start + 1));
  let position = start;
  while (position <= end) {
    const length = await reader.read(bytes.subarray(0, end - position + 1), position);
    if (length === 0) throw new Error("it is shorter than it was");
    position += length;
    if (response.destroyed || !(await written(response, bytes.subarray(0, length)))) return false;
  }
  return true;
}

/** Waits until the socket has taken the bytes; false when it is closed. */
function written(response: ServerResponse, bytes: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    const gone = (): void => resolve(false);
    response.once("close", gone);
    response.write(bytes, (error) => {
      response.off("close", gone);
      resolve(!error);
    });
  });
}
