// Serves ranged sources to ffmpeg over HTTP, from this process and on loopback only.
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { ALLOWED_DECODERS } from "#shared/media/decoders.ts";
import { ALLOWED_DEMUXERS } from "#shared/media/demuxers.ts";
import { parseRange } from "#shared/network/http-headers.ts";
import { type LoopbackNetwork, openLoopback } from "../../ffmpeg/sandbox/loopback-network.ts";
import type { SourceFile } from "../fetch/source-file.ts";
import { BLOCK_BYTES, type SourceReader } from "../fetch/source-reader.ts";

/**
 * Options of ffmpeg and ffprobe before an input that is the URL of a `RangeInput`.
 *
 * No option makes ffmpeg fail when its input breaks off: ffmpeg 7.0 exits with 0 and a short result, for mp4, mkv and
 * MPEG-TS alike. Only the global `-xerror` does, which also fails for each damaged frame that ffmpeg would otherwise
 * conceal. So the response of a failed input never ends, and `RangeInput.failed` aborts instead. For the same reason
 * there is no `-rw_timeout`.
 */
export const RANGE_INPUT_OPTIONS: readonly string[] = [
  ...["-protocol_whitelist", "http,tcp", "-format_whitelist", ALLOWED_DEMUXERS],
  ...["-codec_whitelist", ALLOWED_DECODERS],
  // A value that is not an http URL overrides `http_proxy` in the environment.
  ...["-http_proxy", "none", "-icy", "0"],
  // A small buffer: ffmpeg throws it away when it seeks.
  ...["-recv_buffer_size", "65536"],
  // ffmpeg 5.1 jumps over each gap of 64 kB by a new request: 12 for a second of audio beside a video of 20 Mbit/s.
  ...["-short_seek_size", String(BLOCK_BYTES)],
];

/** A source for a run of ffmpeg. */
export type RangeInput = {
  readonly url: string;
  /** The network in which the URL is served. */
  readonly network: LoopbackNetwork;
  /**
   * Aborts, with an AppError as its reason, when requested bytes cannot be read. The response then stalls, so the run
   * must be killed, and its results are void.
   */
  readonly failed: AbortSignal;
  /** Ends the URL and its connections. */
  close(): void;
};

type ServedFile = Pick<SourceFile, "sizeBytes"> & { reader(): Pick<SourceReader, "read"> };

export interface RangeProxy {
  open(source: ServedFile): RangeInput;
  close(): Promise<void>;
}

const TOKEN_BYTES = 16;
/** Bytes that are read from disk and sent at a time. */
const SEND_BYTES = 256 * 1024;

type Opened = {
  readonly source: ServedFile;
  readonly failed: AbortController;
  readonly responses: Set<ServerResponse>;
};

/** Listens on a free port of 127.0.0.1, in a network namespace of its own where the system supports that. */
export async function startRangeProxy(openNetwork = openLoopback): Promise<RangeProxy> {
  const opened = new Map<string, Opened>();
  const server = createServer((request, response) => {
    const input = opened.get(request.url ?? "");
    if (input) respond(request, response, input).catch(() => response.destroy());
    else response.writeHead(404).end();
  });
  const { network, listener, close } = await openNetwork();
  listener.on("connection", (socket) => server.emit("connection", socket));
  const { port } = listener.address() as AddressInfo;

  return {
    open(source) {
      const path = `/${randomBytes(TOKEN_BYTES).toString("hex")}`;
      const input: Opened = { source, failed: new AbortController(), responses: new Set() };
      opened.set(path, input);
      return {
        url: `http://127.0.0.1:${port}${path}`,
        network,
        failed: input.failed.signal,
        close() {
          opened.delete(path);
          for (const response of input.responses) response.destroy();
        },
      };
    },
    async close() {
      close();
      server.closeAllConnections();
    },
  };
}

async function respond(request: IncomingMessage, response: ServerResponse, input: Opened): Promise<void> {
  const sizeBytes = input.source.sizeBytes ?? 0;
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
  input.responses.add(response);
  response.once("close", () => input.responses.delete(response));
  // A reader may close its connection at any time.
  response.on("error", () => undefined);
  try {
    if (await send(response, input, start, end)) response.end();
  } catch (error) {
    // The response is not ended: ffmpeg would take that for the end of the source.
    const failure = new AppError("node_failed", `The node cannot read the input (${messageOf(error)}).`, {
      cause: error,
    });
    input.failed.abort(error instanceof AppError ? error : failure);
  }
}

/** False when the reader has closed its connection. */
async function send(response: ServerResponse, { source }: Opened, start: number, end: number): Promise<boolean> {
  const reader = source.reader();
  // The buffer is reused when the socket has accepted its bytes.
  const bytes = Buffer.allocUnsafeSlow(Math.min(SEND_BYTES, end - start + 1));
  let position = start;
  while (position <= end) {
    const length = await reader.read(bytes.subarray(0, end - position + 1), position);
    if (length === 0) throw new Error("it is shorter than before");
    position += length;
    if (response.destroyed || !(await written(response, bytes.subarray(0, length)))) return false;
  }
  return true;
}

/** Resolves when the socket has accepted the bytes; false when it is closed. */
function written(response: ServerResponse, bytes: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    const onClose = (): void => resolve(false);
    response.once("close", onClose);
    response.write(bytes, (error) => {
      response.off("close", onClose);
      resolve(!error);
    });
  });
}
