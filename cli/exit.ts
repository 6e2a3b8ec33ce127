// Exit codes of commands, and the errors that map to them.

export const EXIT = {
  done: 0,
  /** A job, an output or a check of `doctor` failed. */
  failed: 1,
  /** The command line is not valid, or the service rejects the request. */
  usage: 2,
  /** HTTP 401 or 403. */
  notAllowed: 3,
  /** HTTP 404. */
  notFound: 4,
  /** The service is not reachable, sends an invalid response, or asks to try again later. */
  service: 5,
  /** The time of `--timeout` is over. */
  timeout: 6,
  /** Ctrl-C: 128 plus the number of SIGINT, as in shells. */
  interrupted: 130,
} as const;

/** Ends the command with a message for people and an exit code. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The command line is not valid. */
export const usageError = (message: string): CommandError => new CommandError(EXIT.usage, message);

/** A person pressed Ctrl-C. */
export class Interrupted extends CommandError {
  constructor() {
    super(EXIT.interrupted, "Interrupted");
  }
}

/** The time of `--timeout` is over. */
export class TimedOut extends CommandError {
  constructor(seconds: number) {
    super(EXIT.timeout, `The command did not end within ${seconds} s`);
  }
}

/** Returns the exit code for the HTTP status of an error response. Status 0: there was no response. */
export function exitCodeOfStatus(status: number): number {
  if (status === 401 || status === 403) return EXIT.notAllowed;
  if (status === 404) return EXIT.notFound;
  if (status === 408 || status === 429 || status >= 500 || status < 400) return EXIT.service;
  return EXIT.usage;
}

/** Returns the exit code and the message for anything that a command throws. */
export function endOf(error: unknown): { readonly exitCode: number; readonly message: string } {
  if (error instanceof CommandError) return { exitCode: error.exitCode, message: error.message };
  if (!(error instanceof Error)) return { exitCode: EXIT.service, message: String(error) };
  if (isResponseError(error) && error.status === 401) return { exitCode: EXIT.notAllowed, message: NO_ACCESS };
  if (isResponseError(error)) return { exitCode: exitCodeOfStatus(error.status), message: withCode(error) };
  return { exitCode: EXIT.service, message: messageWithCause(error) };
}

/** The service's own message is for programs: it explains HTTP Basic. */
const NO_ACCESS =
  "The service does not accept the key or token: it is mistyped, expired, revoked or of another service. Sign in again " +
  "with copra login <url>, or set COPRA_API_KEY or COPRA_ADMIN_TOKEN";

type ResponseError = Error & { readonly status: number; readonly code?: unknown; readonly requestId?: unknown };

/** True for the client's ResponseError. Does not import the class, because `--help` would then load the client. */
const isResponseError = (error: Error): error is ResponseError => "status" in error && typeof error.status === "number";

function withCode(error: ResponseError): string {
  const { message, status, code, requestId } = error;
  if (status === 0) return messageWithCause(error);
  const facts = [
    ...(typeof code === "string" && code !== "" ? [code] : []),
    ...(status >= 500 && typeof requestId === "string" ? [`request ${requestId}`] : []),
  ];
  return facts.length > 0 ? `${message} (${facts.join(", ")})` : message;
}

/** Appends the innermost `cause`, which has the reason for `fetch failed`. */
function messageWithCause(error: Error): string {
  let innermost = error;
  for (let depth = 0; depth < MAX_CAUSES && innermost.cause instanceof Error; depth++) innermost = innermost.cause;
  const reason = innermost.message || ("code" in innermost ? String(innermost.code) : "");
  return reason === "" || error.message.includes(reason) ? error.message : `${error.message}: ${reason}`;
}

const MAX_CAUSES = 5;
