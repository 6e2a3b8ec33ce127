// Structured log lines: a static message and its values as attributes, one JSON object a line.

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
 * A logger whose lines carry `base`; lines below the sink's level are dropped. Of addresses in its values only what may be
 * shown is written, whoever quoted them.
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

/** The last line of a process that does not know what to do with an error. */
export function logCrash(log: Logger, thrown: unknown): void {
  log.error("Crashed", { error: messageOf(thrown), stack: thrown instanceof Error ? (thrown.stack ?? null) : null });
}

const safe = (value: LogFields[string]): LogFields[string] =>
  typeof value === "string"
    ? value
        .replace(USER, "$1")
        .replace(ADDRESS, (_, shown: string, query?: string) => (query ? `${shown}?…` : shown))
        .replace(PARAMETERS, "")
    : value;

// A value may be long and anyone's: each pattern begins at "://" and reads on once, and JSON may have escaped its slashes.
/** User and password of an address (RFC 3986 §3.2.1), whatever signs a password is made of, but for the slash. */
const USER = /(:(?:\\*\/){2})[^\s/]*@/g;
/** An address, and its query and fragment, of which signatures are part. */
const ADDRESS = /(:(?:\\*\/){2}[^\s?#"'<>]*)([?#][^\s"'<>]*)?/g;
/** Drizzle puts the values of a query that failed behind its text (DrizzleQueryError). */
const PARAMETERS = /\nparams: [^\n]*/g;

/** The words of anything thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
