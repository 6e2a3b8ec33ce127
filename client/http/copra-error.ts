import type { ErrorCode } from "../types/api.ts";

/** Codes of errors that are not responses of the service. */
export type ClientErrorCode = "network_error" | "response_not_valid";

/** A request that failed. */
export class CopraError extends Error {
  override readonly name: string = "CopraError";
  /** The HTTP status; 0 if there was no response. */
  readonly status: number;
  readonly code: ErrorCode | ClientErrorCode;
  /** The field of the request that the message names, such as `outputs.mp4:720p.path`, if it names a field. */
  readonly field: string | undefined;
  /** Id of the request in the logs of the service, if the response has an id. */
  readonly requestId: string | undefined;
  /** True if the same request may succeed later. */
  readonly retryable: boolean;
  /** The `Retry-After` of the response. */
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, code: ErrorCode | ClientErrorCode, message: string, headers?: Headers, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = code;
    // Messages about a field start with its path, or name a parameter of the query.
    this.field = status === 400 ? /^(?:The query parameter )?`([^`\s]+)`/.exec(message)?.[1] : undefined;
    this.requestId = headers?.get("x-request-id") ?? headers?.get("cf-ray") ?? undefined;
    this.retryable = status === 0 || status === 429 || status >= 500;
    const seconds = Number.parseFloat(headers?.get("retry-after") ?? "");
    this.retryAfterSeconds = Number.isNaN(seconds) ? undefined : seconds;
  }

  /** The error of a response; reads its body. */
  static async from(response: Response): Promise<CopraError> {
    const text = await response.text().catch(() => "");
    const { status, headers } = response;
    try {
      const { error_code, message } = JSON.parse(text);
      if (typeof error_code === "string" && typeof message === "string") {
        // The service may be newer than this client, and send codes that the client does not know.
        return new CopraError(status, error_code as ErrorCode, message, headers);
      }
    } catch {
      // Proxies respond with HTML pages.
    }
    return new CopraError(status, "response_not_valid", pageMessage(status, text, headers), headers);
  }
}

/** The message for a response that comes from a proxy in front of the service, not from the service. */
function pageMessage(status: number, text: string, headers: Headers): string {
  const page = /^error code: \d+/.exec(text.trim())?.[0];
  const isChallenge = headers.get("cf-mitigated") !== null;
  if (page === undefined && !isChallenge) return `The service responded with HTTP ${status}`;
  return (
    `Cloudflare responded in place of the service (HTTP ${status}, ${page ?? "a challenge"}): ` +
    'see docs/troubleshooting.md, "Cloudflare responds in place of the service"'
  );
}
