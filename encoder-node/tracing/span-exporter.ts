// Sends spans to a collector in batches. A limited number of spans waits in memory. Spans that cannot be sent are
// dropped.
import { type Logger, messageOf } from "#shared/log.ts";
import { NODE_USER_AGENT } from "#shared/version.ts";
import type { TraceExport } from "./export-settings.ts";
import { type Attributes, exportRequest, type Span } from "./otlp-json.ts";
import { type TaskTrace, type TracedTask, traceTask } from "./task-trace.ts";

/** The defaults of OpenTelemetry's batch processor, OTEL_BSP_*. */
const LIMITS = { waiting: 2048, batch: 512, everyMs: 5000 } as const;
/** Time limit for the last spans at the end of the node. */
const CLOSE_LIMIT_MS = 2000;

export class SpanExporter {
  readonly #to: TraceExport;
  readonly #resource: () => Attributes;
  readonly #log: Logger;
  #waiting: Span[] = [];
  #timer: NodeJS.Timeout | null = null;
  #sending: Promise<void> | null = null;
  /** Dropped spans since the collector's last response. */
  #dropped = 0;
  readonly #closing = new AbortController();

  constructor(to: TraceExport, resource: () => Attributes, log: Logger) {
    this.#to = to;
    this.#resource = resource;
    this.#log = log;
  }

  /** Never throws, and returns at once. */
  add(span: Span): void {
    if (this.#waiting.length >= LIMITS.waiting) return this.#drop(1, "more spans end than can be sent");
    this.#waiting.push(span);
    if (this.#waiting.length >= LIMITS.batch) this.#send();
    else this.#timer ??= setTimeout(() => this.#send(), LIMITS.everyMs).unref();
  }

  /** Sends the waiting spans, for two seconds at most. */
  async close(): Promise<void> {
    const limit = setTimeout(() => this.#closing.abort(new Error("The node ended")), CLOSE_LIMIT_MS);
    do {
      this.#send();
      await this.#sending;
    } while (this.#sending !== null || this.#waiting.length > 0);
    clearTimeout(limit);
  }

  #send(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#sending !== null || this.#waiting.length === 0) return;
    const batch = this.#waiting.splice(0, LIMITS.batch);
    this.#sending = this.#post(batch).then(() => {
      this.#sending = null;
      if (this.#waiting.length >= LIMITS.batch) this.#send();
      else if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#send(), LIMITS.everyMs).unref();
    });
  }

  /** Never rejects. */
  async #post(batch: readonly Span[]): Promise<void> {
    const { url, headers, timeoutMs } = this.#to;
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { "user-agent": NODE_USER_AGENT, ...headers, "content-type": "application/json" },
        body: JSON.stringify(exportRequest(this.#resource(), batch)),
        redirect: "error",
        signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), this.#closing.signal]),
      });
      await response.body?.cancel();
      if (!response.ok) return this.#drop(batch.length, `HTTP ${response.status}`);
    } catch (error) {
      return this.#drop(batch.length, reasonOf(error));
    }
    if (this.#dropped > 0) this.#log.info("spans exported again", { dropped: this.#dropped });
    this.#dropped = 0;
  }

  /** Logs the first loss only. */
  #drop(count: number, error: string): void {
    if (this.#dropped === 0) this.#log.warn("spans dropped", { error });
    this.#dropped += count;
  }
}

/** The message of undici's errors is always "fetch failed". */
const reasonOf = (error: unknown): string =>
  error instanceof Error && error.cause instanceof Error
    ? messageOf(error.cause) || error.cause.name
    : messageOf(error);

// The traces of a node's tasks.

export interface Tracer {
  task(task: TracedTask): TaskTrace;
  /** Sends the last spans, for two seconds at most. */
  close(): Promise<void>;
}

/** `node` returns the attributes of this node's resource. Without an export, tasks have only their jobs' trace ids. */
export function openTracer(to: TraceExport | null, node: () => Attributes, log: Logger): Tracer {
  if (to === null) return { task: (task) => traceTask(task, null), close: async () => undefined };
  const exporter = new SpanExporter(to, () => ({ "service.name": to.serviceName, ...node(), ...to.resource }), log);
  return { task: (task) => traceTask(task, (span) => exporter.add(span)), close: () => exporter.close() };
}
