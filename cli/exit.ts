// How a command ends: its exit codes, and the errors that stand for them.

/** The exit codes of all commands. */
export const EXIT = {
  done: 0,
  /** A job or one of its outputs failed, or a check of `doctor`. */
  failed: 1,
  /** The command line is not valid, or the service does not accept the request. */
  usage: 2,
  /** HTTP 401 or 403. */
  notAllowed: 3,
  /** HTTP 404. */
  notFound: 4,
  /** The service is not reachable, does not respond as it should, or asks to try again later. */
  service: 5,
  /** `--timeout` is over. */
  timeout: 6,
  /** Ctrl-C: 128 and the number of SIGINT, as shells have it. */
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

/** Somebody pressed Ctrl-C. */
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

/** The exit code for the status of an error response; 0 means that there was none. */
export function exitCodeOfStatus(status: number): number {
  if (status === 401 || status === 403) return EXIT.notAllowed;
  if (status === 404) return EXIT.notFound;
  if (status === 408 || status === 429 || status >= 500 || status < 400) return EXIT.service;
  return EXIT.usage;
}

/** The exit code and the message for people of anything that a command threw. */
export function endOf(error: unknown): { readonly exitCode: number; readonly message: string } {
  if (error instanceof CommandError) return { exitCode: error.exitCode, message: error.message };
  if (!(error instanceof Error)) return { exitCode: EXIT.service, message: String(error) };
  if (isResponseError(error)) return { exitCode: exitCodeOfStatus(error.status), message: withCode(error) };
  return { exitCode: EXIT.service, message: messageWithCause(error) };
}

type ResponseError = Error & { readonly status: number; readonly code?: unknown; readonly requestId?: unknown };

/**
 * True if this is the client's error of a response. Its class is not imported: that would load the client for `--help`.
 */
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

/** `fetch failed` has its reason in the innermost `cause`. */
function messageWithCause(error: Error): string {
  let innermost = error;
  for (let depth = 0; depth < MAX_CAUSES && innermost.cause instanceof Error; depth++) innermost = innermost.cause;
  const reason = innermost.message || ("code" in innermost ? String(innermost.code) : "");
  return reason === "" || error.message.includes(reason) ? error.message : `${error.message}: ${reason}`;
}

const MAX_CAUSES = 5;
