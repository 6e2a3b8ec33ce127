// Carries out the local Worker's requests to webhooks, storages and SNS topics. Cloudflare does not route to private
// addresses. Here, addresses are checked on connecting, as on nodes, so that no name leads into this machine's
// networks.
import { Readable } from "node:stream";
import { request as sendRequest } from "undici";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import { guardedAgent } from "../../encoder-node/network/address-guard.ts";
import { blockedAddress, type EdgeResponse, edgeFailure, edgeMethod } from "./edge.ts";

/** Header of a response that stands for a failed request, with the reason (worker-options.ts). */
export const FAILED_HEADER = "copra-outbound-failed";

/** Miniflare would encode a body again if the headers named an encoding, so none is requested. */
const NOT_PASSED = new Set(["accept-encoding", "connection", "content-length", "host", "transfer-encoding"]);
const NOT_RETURNED = new Set(["connection", "content-encoding", "keep-alive", "transfer-encoding", FAILED_HEADER]);
/** Statuses of responses without a body (Fetch standard, "null body status"). */
const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * The Worker gives up webhooks after 15 s (worker/notify/send.ts). Miniflare passes no abort, so webhooks end here:
 * only they have an id.
 */
const WEBHOOK_MS = 20_000;

/** The parts of a request that are read: Miniflare's class of requests is not Node's. */
export type OutboundRequest = Pick<Request, "url" | "method" | "arrayBuffer"> & {
  readonly body: unknown;
  readonly headers: Iterable<[string, string]>;
};

/** `edge`: carries out requests as Cloudflare's edge does; `direct`: without the edge. */
export type OutboundMode = "direct" | "edge";

/**
 * Carries out a request of the Worker, and returns redirects as they are. Request bodies are small, so they are not
 * streamed.
 */
export function guardedOutbound(
  allow: AllowPrivate,
  mode: OutboundMode = "direct",
  webhookMs = WEBHOOK_MS,
): (request: OutboundRequest) => Promise<Response> {
  const isEdge = mode === "edge";
  const refuse = (host: string): AppError =>
    new AppError(
      "storage_address_not_allowed",
      `The host \`${host}\` resolves to a network that requests may not reach`,
    );
  const dispatcher = guardedAgent({ allow, refuse });
  return async (request) => {
    const url = new URL(request.url);
    const blocked = isEdge ? blockedAddress(url) : null;
    if (blocked) return responseOf(blocked, request.method);
    try {
      const body = request.body === null ? null : Buffer.from(await request.arrayBuffer());
      const headers = withoutNames([...request.headers], NOT_PASSED);
      const method = isEdge ? edgeMethod(request.method, url) : request.method;
      const limits = "webhook-id" in headers ? { headersTimeout: webhookMs } : {};
      const response = await sendRequest(request.url, { dispatcher, method, headers, body, ...limits });
      const returned = withoutNames(pairsOf(response.headers), NOT_RETURNED);
      if (method === request.method && !WITHOUT_BODY.has(response.statusCode)) {
        const streamed = Readable.toWeb(response.body) as ReadableStream<Uint8Array>;
        return new Response(streamed, { status: response.statusCode, headers: returned });
      }
      await response.body.dump();
      return new Response(null, { status: response.statusCode, headers: returned });
    } catch (error) {
      if (isEdge) return responseOf(edgeFailure(error, error instanceof AppError), request.method);
      return new Response(null, { status: 502, headers: { [FAILED_HEADER]: encodeURIComponent(reasonOf(error)) } });
    }
  };
}

const responseOf = ({ status, headers, body }: EdgeResponse, method: string): Response =>
  new Response(method === "HEAD" ? null : body, { status, headers });

const LOST = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** workerd's own message for lost connections, which the Worker recognizes (storage-unreachable.ts). */
const reasonOf = (error: unknown): string =>
  error instanceof Error && "code" in error && LOST.has(String(error.code))
    ? `Network connection lost. (${error.code})`
    : messageOf(error);

const withoutNames = (pairs: [string, string][], names: ReadonlySet<string>): Record<string, string> =>
  Object.fromEntries(pairs.filter(([name]) => !names.has(name.toLowerCase())));

/** The headers of a message of Node, with repeated ones joined. */
export const pairsOf = (headers: Readonly<Record<string, string | string[] | undefined>>): [string, string][] =>
  Object.entries(headers).map(([name, value]) => [name, [value ?? ""].flat().join(", ")]);
