// Requests: authentication, retries, time limits, and errors with a type.
import { CopraError } from "./copra-error.ts";

/** Options of all methods. */
export type CallOptions = {
  /** Aborts the request, or the wait before the next try. The method then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
};

/** Bytes that are read only while they are sent. Only for Node, whose `fetch` sends the length of a stream. */
export type SizedStream = { readonly size: number; stream(): ReadableStream<Uint8Array> };
/** The body of a request. It is read again when the request is repeated. */
export type Bytes = Blob | Uint8Array | SizedStream;

export type Call = CallOptions & {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly query?: object | undefined;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent unchanged, instead of JSON. */
  readonly body?: Bytes | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** True if the request may be repeated when nobody knows if it was carried out. POST is not repeatable by default. */
  readonly repeatable?: boolean;
  readonly retries?: number;
  /** Time limit for the response, in seconds; 0: no limit. 60 by default. */
  readonly timeoutSeconds?: number;
};

export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;
const RESPONSE_LIMIT_S = 60;

/** Sends requests to one service with one credential. */
export class Caller {
  readonly base: string;
  readonly #authorization: string | undefined;
  readonly #fetch: Fetch;
  readonly #retries: number;

  /** `authorization` is the value of the header. `url` may end in `/v2`. */
  constructor(url: string, authorization: string | undefined, fetch: Fetch | undefined, retries = 4) {
    this.base = url.replace(/(?<!\/)\/+$/, "").replace(/\/v2$/, "");
    this.#authorization = authorization;
    // Browsers require a call of `fetch` as a function of its global object.
    this.#fetch = fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.#retries = retries;
  }

  /** The parsed body of the response. Repeats repeatable requests. Throws CopraError, or the signal's reason. */
  json<Body>(path: string, call?: Call): Promise<Body> {
    return this.send(path, call, (response) => response.json());
  }

  /** The result of `read` for a response with status 2xx. Repeats and throws like `json`. */
  async send<Value>(path: string, call: Call = {}, read: (response: Response) => Promise<Value>): Promise<Value> {
    const { repeatable = call.method !== "POST", retries = this.#retries, signal } = call;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#attempt(path, call, read);
      } catch (error) {
        signal?.throwIfAborted();
        // A request with response 429 was not carried out.
        const mayRepeat = error instanceof CopraError && error.retryable && (repeatable || error.status === 429);
        if (!mayRepeat || attempt >= retries) throw error;
        await pause(delayMs(attempt, error.retryAfterSeconds), signal);
      }
    }
  }

  async #attempt<Value>(path: string, call: Call, read: (response: Response) => Promise<Value>): Promise<Value> {
    const { method = "GET", query, json, body, signal, timeoutSeconds = RESPONSE_LIMIT_S } = call;
    const limit = timeoutSeconds > 0 ? AbortSignal.timeout(timeoutSeconds * 1000) : undefined;
    const signals = [signal, limit].filter((candidate) => candidate !== undefined);
    const isStream = body !== undefined && isSizedStream(body);
    const init: RequestInit = {
      method,
      headers: {
        ...(this.#authorization === undefined ? {} : { authorization: this.#authorization }),
        ...(json === undefined ? {} : { "content-type": "application/json" }),
        ...(isStream ? { "content-length": String(body.size) } : {}),
        ...call.headers,
      },
      ...(signals.length > 0 ? { signal: AbortSignal.any(signals) } : {}),
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      ...(body === undefined ? {} : { body: isStream ? body.stream() : (body as Blob | Uint8Array<ArrayBuffer>) }),
      ...(isStream ? { duplex: "half" } : {}),
    };
    try {
      const response = await this.#fetch(`${this.base}${path}${searchOf(query)}`, init);
      if (!response.ok) throw await CopraError.from(response);
      return await read(response);
    } catch (error) {
      if (error instanceof CopraError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new CopraError(0, "network_error", `No response from ${this.base}: ${reason}`, undefined, error);
    }
  }
}

/** The pages of a list, read as they are needed. */
export async function* pages<Page extends { readonly next_cursor: string | null }>(
  read: (cursor: string | undefined) => Promise<Page>,
): AsyncGenerator<Page> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await read(cursor);
    yield page;
    cursor = page.next_cursor;
  }
}

export const isSizedStream = (body: Bytes): body is SizedStream => "stream" in body && !(body instanceof Blob);

function searchOf(query: object | undefined): string {
  const pairs = Object.entries(query ?? {}).filter(
    // A tag may have an empty value.
    ([name, value]) => value !== undefined && (value !== "" || name.startsWith("tag.")),
  );
  const text = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  return text && `?${text}`;
}

/** Half of the delay is random, so that clients that failed together do not return together. */
export function delayMs(attempt: number, retryAfterSeconds = 0): number {
  const delay = Math.min(FIRST_DELAY_MS * 2 ** attempt, MAX_DELAY_MS);
  return Math.max(retryAfterSeconds * 1000, delay / 2 + (Math.random() * delay) / 2);
}

/** Waits. Rejects with the signal's reason when the signal is aborted. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}
