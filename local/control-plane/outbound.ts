// The requests that the local Worker makes: webhooks, storages, topics. On Cloudflare a name that resolves to a private
// address leads nowhere; here addresses are checked on connecting, as nodes do it, so that no name leads into this
// machine's networks.
import { Readable } from "node:stream";
import { type Request, Response } from "miniflare";
import { request as ask } from "undici";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import { guardedAgent } from "../../encoder-node/source/fetch/address-guard.ts";

/** Names why a request failed, on an answer that stands for no answer (worker-options.ts). */
export const FAILED_HEADER = "copra-outbound-failed";

/** Miniflare encodes a body again whose headers name an encoding, so none is asked for. */
const NOT_PASSED = new Set(["accept-encoding", "connection", "content-length", "host", "transfer-encoding"]);
const NOT_RETURNED = new Set(["connection", "content-encoding", "keep-alive", "transfer-encoding", FAILED_HEADER]);
/** Statuses whose answers have no body (Fetch standard, "null body status"). */
const WITHOUT_BODY = new Set([204, 205, 304]);

/** Carries out one request of the Worker; redirects are answered, not followed. Bodies are small, so they are not streamed. */
export function guardedOutbound(allow: AllowPrivate): (request: Request) => Promise<Response> {
  const refuse = (host: string): AppError =>
    new AppError("storage_address_not_allowed", `The host \`${host}\` leads to a network that may not be asked`);
  const dispatcher = guardedAgent({ allow, refuse });
  return async (request) => {
    try {
      const body = request.body === null ? null : Buffer.from(await request.arrayBuffer());
      const headers = withoutNames([...request.headers], NOT_PASSED);
      const answer = await ask(request.url, { dispatcher, method: request.method, headers, body });
      const returned = withoutNames(pairsOf(answer.headers), NOT_RETURNED);
      if (!WITHOUT_BODY.has(answer.statusCode)) {
        return new Response(Readable.toWeb(answer.body), { status: answer.statusCode, headers: returned });
      }
      await answer.body.dump();
      return new Response(null, { status: answer.statusCode, headers: returned });
    } catch (error) {
      return new Response(null, { status: 502, headers: { [FAILED_HEADER]: encodeURIComponent(reasonOf(error)) } });
    }
  };
}

const LOST = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** As workerd says it where it connects itself, so that the Worker reads the same from both (storage-silence.ts). */
const reasonOf = (error: unknown): string =>
  error instanceof Error && "code" in error && LOST.has(String(error.code))
    ? `Network connection lost. (${error.code})`
    : messageOf(error);

const withoutNames = (pairs: [string, string][], names: ReadonlySet<string>): Record<string, string> =>
  Object.fromEntries(pairs.filter(([name]) => !names.has(name.toLowerCase())));

const pairsOf = (headers: Readonly<Record<string, string | string[] | undefined>>): [string, string][] =>
  Object.entries(headers).map(([name, value]) => [name, [value ?? ""].flat().join(", ")]);
