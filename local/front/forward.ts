// Forwards requests and their responses, both as streams.
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { type Dispatcher, Pool } from "undici";
import type { Logger } from "#shared/log.ts";
import type { ClientShares } from "./client-shares.ts";
import { causeOf, errorResponses, responseToFailure, sendError } from "./error-responses.ts";
import { type BodyRate, receiveBody } from "./receive-body.ts";
import { forwardedHeaders, requestHeadError, responseHeaders } from "./request-head.ts";

export type Upstream = {
  /** Scheme, host and port of the Worker. */
  readonly origin: string;
  /** The value of FRONT_HEADER that the Worker requires. */
  readonly secret: string;
};

export type Shares = {
  /** Requests that have no response yet, and responses of finite length. */
  readonly requests: ClientShares;
  /** Responses that are event streams. */
  readonly streams: ClientShares;
};

/** workerd closes connections that are idle for 5 s (kj, HttpServerSettings.pipelineTimeout). */
const IDLE_MS = 3000;
/**
 * The front reads the rest of a body for this time after an early response, so that its sender can read the response.
 */
const LINGER_MS = 1000;
/** A smaller response is written at once, which costs half the CPU time of a stream. */
const SMALL_BYTES = 64 * 1024;
/** Methods that may be repeated (RFC 9110 §9.2.2). */
const IDEMPOTENT = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);

export class Forwarder {
  readonly #kept: Pool;
  /** A connection for each request: workerd closes a connection if it leaves more than 64 KiB of a body unread. */
  readonly #fresh: Pool;
  readonly #secret: string;
  readonly #shares: Shares;
  readonly #bodyRate: BodyRate;
  readonly #log: Logger;

  constructor({ origin, secret }: Upstream, shares: Shares, bodyRate: BodyRate, log: Logger) {
    // No time limits for event streams and large uploads.
    const options = { keepAliveTimeout: IDLE_MS, keepAliveMaxTimeout: IDLE_MS, headersTimeout: 0, bodyTimeout: 0 };
    this.#kept = new Pool(origin, options);
    this.#fresh = new Pool(origin, options);
    this.#secret = secret;
    this.#shares = shares;
    this.#bodyRate = bodyRate;
    this.#log = log;
  }

  /** Responds to a request. `client`: its address; `network`: the owner of the share for this request. */
  async forward(
    request: IncomingMessage,
    response: ServerResponse,
    { client, network }: { readonly client: string; readonly network: string },
  ): Promise<void> {
    const { rawHeaders, url: path = "", method = "GET" } = request;
    const reason = requestHeadError({ target: path, rawHeaders });
    if (reason !== null) return sendError(response, { ...errorResponses.notHttp, message: reason });
    const clientGone = new AbortController();
    const abort = (): void => clientGone.abort();
    response.once("close", abort);
    const { signal } = clientGone;
    const { requests, streams } = this.#shares;
    const endSlow = () => (response.headersSent ? response.destroy() : sendError(response, errorResponses.slowBody));
    const body = hasBody(request) ? await receiveBody(request, this.#bodyRate, endSlow) : null;
    if (signal.aborted) return;
    if (!(await requests.enter(network, signal))) return sendError(response, errorResponses.manyRequests);
    let shares = requests;
    try {
      const headers = forwardedHeaders({ target: path, rawHeaders }, client, this.#secret);
      const answer = await this.#send({ method: method as Dispatcher.HttpMethod, path, headers, body, signal });
      if (isEventStream(answer)) {
        if (!streams.tryEnter(network)) {
          answer.body.on("error", () => {}).destroy();
          return sendError(response, errorResponses.manyStreams);
        }
        requests.leave(network);
        shares = streams;
      }
      await respond(answer, request, response);
    } catch (error) {
      if (signal.aborted) return void response.destroy();
      this.#log.warn("request to the Worker failed", { cause: causeOf(error), method, path: pathOnly(path) });
      if (response.headersSent) response.destroy();
      else sendError(response, responseToFailure(error));
    } finally {
      // An abort costs an error with its stack.
      response.off("close", abort);
      shares.leave(network);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#kept.destroy(), this.#fresh.destroy()]);
  }

  /** Sends a request. If a kept connection fails, sends a repeatable request once more. */
  async #send(options: Dispatcher.RequestOptions & { signal: AbortSignal }): Promise<Dispatcher.ResponseData> {
    const alone = { ...options, reset: true };
    if (options.body instanceof Readable) return this.#fresh.request(alone);
    try {
      return await this.#kept.request(options);
    } catch (error) {
      const mayRepeat = IDEMPOTENT.has(options.method) && responseToFailure(error).status >= 500;
      if (options.signal.aborted || !mayRepeat) throw error;
      return this.#fresh.request(alone);
    }
  }
}

async function respond(
  answer: Dispatcher.ResponseData,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // The next request on this connection starts after this body, whose end is unknown.
  if (!request.complete) response.shouldKeepAlive = false;
  const isSmall = request.complete && Number(answer.headers["content-length"] ?? Number.NaN) <= SMALL_BYTES;
  const body = isSmall ? await answer.body.bytes() : null;
  response.writeHead(answer.statusCode, responseHeaders(answer.headers));
  if (body) return void response.end(body);
  response.flushHeaders();
  await pipeline(answer.body, response, { end: false });
  if (!request.complete) await restOf(request);
  response.end();
}

const isEventStream = ({ headers }: Dispatcher.ResponseData): boolean =>
  /^text\/event-stream\b/i.test([headers["content-type"] ?? []].flat().join());

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

const pathOnly = (target: string): string => target.split("?", 1)[0] ?? "";

async function restOf(request: IncomingMessage): Promise<void> {
  const done = new AbortController();
  request.resume().once("close", () => done.abort());
  await sleep(LINGER_MS, undefined, { signal: done.signal, ref: false }).catch(() => {});
}
