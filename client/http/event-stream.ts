// Server-sent events over fetch (HTML Standard, "Server-sent events"), which browsers' EventSource cannot authenticate.
import { type Call, type Caller, delayMs, pause } from "./caller.ts";
import { CopraError } from "./copra-error.ts";

export type ServerEvent = { readonly event: string; readonly data: string; readonly id: string };

/** The service sends a comment every 15 s. */
const SILENCE_SECONDS = 45;

type StreamOptions = {
  readonly signal?: AbortSignal | undefined;
  readonly lastEventId?: string | undefined;
  /** Called when a connection was lost and the client tries another connection. */
  readonly onReconnect?: ((error: unknown) => void) | undefined;
  /** Replaces a connection that is silent for longer; 45 by default. */
  readonly silenceSeconds?: number | undefined;
};

/**
 * The events of a stream. After a lost connection, the next connection continues after the last event. The stream never
 * ends by itself. Throws CopraError for errors that reconnecting cannot fix, or the signal's reason.
 */
export async function* eventsOf(
  caller: Caller,
  path: string,
  options: StreamOptions = {},
): AsyncGenerator<ServerEvent> {
  const { signal, onReconnect, silenceSeconds = SILENCE_SECONDS } = options;
  let id = options.lastEventId ?? "";
  for (let failures = 0; ; failures++) {
    let retryAfterSeconds = 0;
    const abort = new AbortController();
    const signals = signal ? [signal, abort.signal] : [abort.signal];
    const call: Call = {
      headers: { accept: "text/event-stream", ...(id === "" ? {} : { "last-event-id": id }) },
      signal: AbortSignal.any(signals),
      timeoutSeconds: 0,
      // The next try is another connection.
      retries: 0,
    };
    try {
      const inTime = <Value>(result: Promise<Value>): Promise<Value> => within(silenceSeconds, result, abort);
      const response = await inTime(caller.send(path, call, async (opened) => opened));
      for await (const event of parse(response, inTime)) {
        failures = 0;
        if (event.id !== "") id = event.id;
        // A message without data only sets the position where the stream continues.
        if (event.data !== undefined) yield { ...event, data: event.data };
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof CopraError) {
        if (!error.retryable) throw error;
        retryAfterSeconds = error.retryAfterSeconds ?? 0;
      }
      onReconnect?.(error);
    } finally {
      // Also closes the connection when the caller wants no more events.
      abort.abort();
    }
    await pause(delayMs(failures, retryAfterSeconds), signal);
  }
}

type Message = Omit<ServerEvent, "data"> & { readonly data: string | undefined };

/** The messages of a single connection, until it ends. */
async function* parse(
  response: Response,
  inTime: <Value>(result: Promise<Value>) => Promise<Value>,
): AsyncGenerator<Message> {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let fields: Record<string, string> = {};
  for (;;) {
    const read = await inTime(reader.read());
    if (read.done) return;
    // A chunk may end between CR and LF. The LF then ends an empty line without a message.
    const lines = (text + read.value).split(/\r\n|\n|\r(?!$)/);
    text = lines.pop() ?? "";
    for (const line of lines) {
      const [, name = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
      if (line === "") {
        const { event = "message", data, id = "" } = fields;
        fields = {};
        if (data !== undefined || id !== "") yield { event, data, id };
      } else if (name === "data" && fields.data !== undefined) fields.data += `\n${value}`;
      else if (name !== "") fields[name] = value;
    }
  }
}

/** The result. Aborts the connection when no result arrives in time. */
async function within<Value>(seconds: number, result: Promise<Value>, abort: AbortController): Promise<Value> {
  const timer = setTimeout(() => abort.abort(new Error("The connection is silent")), seconds * 1000);
  try {
    return await result;
  } finally {
    clearTimeout(timer);
  }
}
