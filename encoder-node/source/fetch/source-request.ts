// One GET of a source: credentials, redirects that are each checked, and nothing decoded on the way.
import { type Dispatcher, request } from "undici";
import { AppError } from "#shared/errors.ts";
import { type AllowPrivate, checkUrl } from "#shared/network/address-policy.ts";
import { connectionFailure } from "./source-failure.ts";

export type SourceRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly agent: Dispatcher;
  readonly allow: AllowPrivate;
  /** How long the server may send nothing. */
  readonly stallMs: number;
  readonly signal: AbortSignal;
};
type Answer = Pick<Dispatcher.ResponseData, "statusCode" | "headers" | "body">;
export type SourceAnswer = Answer & { readonly host: string };

const MAX_REDIRECTS = 5;
/** Bodies of redirects are read so far to keep the connection; longer ones cost it. */
const REDIRECT_BODY_BYTES = 16 * 1024;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * The answer that stands at the end of the redirects, whatever its status. User and password in the URL become a Basic
 * Authorization header, which goes to the URL's own origin and is gone for good after a redirect to another.
 * Throws AppError: `input_address_not_allowed`, `input_unreachable`, `input_timeout`.
 */
export async function requestSource(source: SourceRequest): Promise<SourceAnswer> {
  let url = allowedUrl(source.url, source.allow);
  let authorization = basicAuthorization(url);
  for (let redirects = 0; ; redirects++) {
    const answer = await send(url, { ...source.headers, ...authorization }, source);
    const { location } = answer.headers;
    if (!REDIRECTS.has(answer.statusCode) || typeof location !== "string") return { ...answer, host: url.host };
    if (redirects === MAX_REDIRECTS) {
      await answer.body.dump();
      throw new AppError("input_unreachable", `The input redirects more than ${MAX_REDIRECTS} times; check the URL.`);
    }
    await answer.body.dump({ limit: REDIRECT_BODY_BYTES });
    const next = allowedUrl(resolve(location, url), source.allow);
    if (next.origin !== url.origin) authorization = {};
    url = next;
  }
}

async function send(url: URL, headers: Record<string, string>, source: SourceRequest): Promise<Answer> {
  const { agent, signal, stallMs } = source;
  try {
    // Without user and password: those are in the header, where they belong.
    return await request(`${url.origin}${url.pathname}${url.search}`, {
      dispatcher: agent,
      headers: { accept: "*/*", "accept-encoding": "identity", "user-agent": "Copra", ...headers },
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
  if (!verdict.ok) throw new AppError("input_address_not_allowed", `${verdict.reason}; the input cannot be fetched.`);
  return new URL(verdict.url);
}

/** A location that is no URL is handed on as it is: the check refuses it. */
const resolve = (location: string, base: URL): string =>
  URL.canParse(location, base.href) ? new URL(location, base.href).href : location;

function basicAuthorization({ username, password }: URL): Record<string, string> {
  if (username === "" && password === "") return {};
  const pair = `${decode(username)}:${decode(password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString("base64")}` };
}

/** A stray `%` stands for itself. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
