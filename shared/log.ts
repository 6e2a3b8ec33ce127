// Structured logging: a JSON object per line, with a static message and values as attributes. A message is searchable:
// lower case, a subject and its event. Values that differ between lines are attributes.

export type LogLevel = "debug" | "info" | "warn" | "error";
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Logger {
  child(fields: LogFields): Logger;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

const ORDER: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };

export type LogSink = { write(line: string): void; now(): number; level: LogLevel };

/**
 * Creates a logger that adds `base` to each line and drops lines below the sink's level. Removes credentials, queries
 * and fragments from URLs in values.
 */
export function createLogger(sink: LogSink, base: LogFields = {}): Logger {
  const at = (level: LogLevel) => (message: string, fields?: LogFields) => {
    if (ORDER[level] < ORDER[sink.level]) return;
    const values = Object.fromEntries(
      Object.entries({ ...base, ...fields }).map(([name, value]) => [name, safe(value)]),
    );
    sink.write(JSON.stringify({ time: new Date(sink.now()).toISOString(), level, message, ...values }));
  };
  return {
    child: (fields) => createLogger(sink, { ...base, ...fields }),
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
  };
}

/** Logs an error that ends the process. */
export function logCrash(log: Logger, thrown: unknown): void {
  log.error("process crashed", {
    error: messageOf(thrown),
    stack: thrown instanceof Error ? (thrown.stack ?? null) : null,
  });
}

const safe = (value: LogFields[string]): LogFields[string] =>
  typeof value === "string"
    ? value
        .replace(USER, "$1")
        .replace(URL_PATTERN, (_, url: string, query?: string) => (query ? `${url}?…` : url))
        .replace(PARAMETERS, "")
        .replace(LINK_TOKEN, "$1…")
    : value;

// Values may be long and untrusted. Each pattern starts at "://" and reads the text once. JSON may have escaped the
// slashes.
/** The token of an upload link, also in a path (docs/upload-links.md). */
const LINK_TOKEN = /(\/v2\/links\/)\w+/g;
/** User and password of a URL (RFC 3986 §3.2.1), with any characters except slashes. */
const USER = /(:(?:\\*\/){2})[^\s/]*@/g;
/** A URL, and its query and fragment, which may contain signatures. */
const URL_PATTERN = /(:(?:\\*\/){2}[^\s?#"'<>]*)([?#][^\s"'<>]*)?/g;
/** Drizzle appends the values of a failed query to its text (DrizzleQueryError). */
const PARAMETERS = /\nparams: [^\n]*/g;

/** The code of a system error, such as `ENOENT`; null for other errors. */
export const errorCode = (error: unknown): string | null =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;

/** Returns the message of any thrown value. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
