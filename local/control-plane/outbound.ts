// Carries out the local Worker's requests to webhooks, storages and SNS topics. Cloudflare does not route to private
// addresses; here addresses are checked on connecting, as on nodes, so that no name leads into this machine's networks.
import { Readable } from "node:stream";
import { type Request, Response } from "miniflare";
import { request as sendRequest } from "undici";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import { guardedAgent } from "../../encoder-node/source/fetch/address-guard.ts";

/** Header of a response that stands for a failed request, with the reason (worker-options.ts). */
export const FAILED_HEADER = "copra-outbound-failed";

/** Miniflare would encode a body again if its headers named an encoding, so none is requested. */
const NOT_PASSED = new Set(["accept-encoding", "connection", "content-length", "host", "transfer-encoding"]);
const NOT_RETURNED = new Set(["connection", "content-encoding", "keep-alive", "transfer-encoding", FAILED_HEADER]);
/** Statuses of responses without a body (Fetch standard, "null body status"). */
const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * Carries out one request of the Worker and returns redirects as they are. Bodies are small, so they are not streamed.
 */
export function guardedOutbound(allow: AllowPrivate): (request: Request) => Promise<Response> {
  const refuse = (host: string): AppError =>
    new AppError(
      "storage_address_not_allowed",
      `The host \`${host}\` resolves to a network that requests may not reach`,
    );
  const dispatcher = guardedAgent({ allow, refuse });
  return async (request) => {
    try {
      const body = request.body === null ? null : Buffer.from(await request.arrayBuffer());
      const headers = withoutNames([...request.headers], NOT_PASSED);
      const response = await sendRequest(request.url, { dispatcher, method: request.method, headers, body });
      const returned = withoutNames(pairsOf(response.headers), NOT_RETURNED);
      if (!WITHOUT_BODY.has(response.statusCode)) {
        return new Response(Readable.toWeb(response.body), { status: response.statusCode, headers: returned });
      }
      await response.body.dump();
      return new Response(null, { status: response.statusCode, headers: returned });
    } catch (error) {
      return new Response(null, { status: 502, headers: { [FAILED_HEADER]: encodeURIComponent(reasonOf(error)) } });
    }
  };
}

const LOST = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** The message that workerd itself uses for lost connections, which the Worker recognizes (storage-unreachable.ts). */
const reasonOf = (error: unknown): string =>
  error instanceof Error && "code" in error && LOST.has(String(error.code))
    ? `Network connection lost. (${error.code})`
    : messageOf(error);

const withoutNames = (pairs: [string, string][], names: ReadonlySet<string>): Record<string, string> =>
  Object.fromEntries(pairs.filter(([name]) => !names.has(name.toLowerCase())));

const pairsOf = (headers: Readonly<Record<string, string | string[] | undefined>>): [string, string][] =>
  Object.entries(headers).map(([name, value]) => [name, [value ?? ""].flat().join(", ")]);
