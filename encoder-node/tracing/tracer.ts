// The traces of a node's tasks.
import type { Logger } from "#shared/log.ts";
import type { TraceExport } from "./export-settings.ts";
import type { Attributes } from "./otlp-json.ts";
import { SpanExporter } from "./span-exporter.ts";
import { type TaskTrace, type TracedTask, traceTask } from "./task-trace.ts";

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
