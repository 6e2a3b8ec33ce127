// A GET request for a source: with credentials, checked redirects, and no content decoding.
import { type Dispatcher, request } from "undici";
import { AppError } from "#shared/errors.ts";
import { type AllowPrivate, checkUrl, withoutSigned } from "#shared/network/address-policy.ts";
import { NODE_USER_AGENT } from "#shared/version.ts";
import { connectionFailure } from "./source-failure.ts";

export type SecretHeaders = Readonly<Record<string, string>>;

export type SourceRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Secret headers for the origin of the URL, with names in lower case. */
  readonly secretHeaders?: SecretHeaders | undefined;
  readonly agent: Dispatcher;
  readonly allow: AllowPrivate;
  /** Longest silence of the server. */
  readonly stallMs: number;
  readonly signal: AbortSignal;
};
type Response = Pick<Dispatcher.ResponseData, "statusCode" | "headers" | "body">;
export type SourceResponse = Response & { readonly host: string };

const MAX_REDIRECTS = 5;
/** Bodies of redirects are read up to this size, to reuse the connection; longer bodies close it. */
const REDIRECT_BODY_BYTES = 16 * 1024;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Returns the response after all redirects, whatever its status. User and password in the URL become a Basic
 * Authorization header. This header and secret headers are sent to the URL's own origin only, and no longer after a
 * redirect to another origin. Throws AppError: `input_address_not_allowed`, `input_unreachable`, `input_timeout`.
 */
export async function requestSource(source: SourceRequest): Promise<SourceResponse> {
  let url = allowedUrl(source.url, source.allow);
  let secrets: SecretHeaders = { ...source.secretHeaders, ...basicAuthorization(url) };
  for (let redirects = 0; ; redirects++) {
    const response = await send(url, { ...secrets, ...source.headers }, source);
    const { location } = response.headers;
    if (!REDIRECTS.has(response.statusCode) || typeof location !== "string") return { ...response, host: url.host };
    if (redirects === MAX_REDIRECTS) {
      await response.body.dump();
      throw new AppError("input_unreachable", `The input redirects more than ${MAX_REDIRECTS} times; check the URL.`);
    }
    await response.body.dump({ limit: REDIRECT_BODY_BYTES });
    const next = allowedUrl(resolve(location, url), withoutSigned(source.allow));
    if (next.origin !== url.origin) secrets = {};
    url = next;
  }
}

async function send(url: URL, headers: Record<string, string>, source: SourceRequest): Promise<Response> {
  const { agent, signal, stallMs } = source;
  try {
    // Without user and password, which are in the header.
    return await request(`${url.origin}${url.pathname}${url.search}`, {
      dispatcher: agent,
      headers: { accept: "*/*", "accept-encoding": "identity", "user-agent": NODE_USER_AGENT, ...headers },
      signal,
      headersTimeout: stallMs,
      bodyTimeout: stallMs,
    });
  } catch (error) {
    signal.throwIfAborted();
    throw connectionFailure(error, url.host);
  }
}

function allowedUrl(text: string, allow: AllowPrivate): URL {
  const verdict = checkUrl(text, allow);
  if (!verdict.ok) throw new AppError("input_address_not_allowed", `The input URL ${verdict.error}.`);
  return new URL(verdict.value);
}

/** A location that is not a URL is returned unchanged: the check rejects it. */
const resolve = (location: string, base: URL): string =>
  URL.canParse(location, base.href) ? new URL(location, base.href).href : location;

function basicAuthorization({ username, password }: URL): Record<string, string> {
  if (username === "" && password === "") return {};
  const pair = `${decode(username)}:${decode(password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString("base64")}` };
}

/** An incomplete escape is left as it is. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
