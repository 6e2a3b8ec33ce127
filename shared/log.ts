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

/** A logger whose lines carry `base`; lines below the sink's level are dropped. */
export function createLogger(sink: LogSink, base: LogFields = {}): Logger {
  const at = (level: LogLevel) => (message: string, fields?: LogFields) => {
    if (ORDER[level] < ORDER[sink.level]) return;
    sink.write(JSON.stringify({ time: new Date(sink.now()).toISOString(), level, message, ...base, ...fields }));
  };
  return {
    child: (fields) => createLogger(sink, { ...base, ...fields }),
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
  };
}

/** The words of anything thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
