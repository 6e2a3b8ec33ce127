import { expect, it, onTestFinished, vi } from "vitest";
import { AppError } from "#shared/errors.ts";
import { createLogger } from "#shared/log.ts";
import { startTraceCollector } from "../testing/trace-collector.ts";
import { readTraceExport } from "./export-settings.ts";
import type { Span } from "./otlp-json.ts";
import { SpanExporter } from "./span-exporter.ts";
import { traceTask } from "./task-trace.ts";

const SPAN: Span = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  parent: null,
  name: "task encode",
  kind: "consumer",
  startMs: 1_700_000_000_000.25,
  endMs: 1_700_000_001_000,
  error: "storage_denied",
  attributes: { text: "a", whole: 3, part: 0.5, yes: true, missing: undefined },
};

async function open(respond?: () => number | null, timeoutMs = 10_000) {
  const collector = await startTraceCollector(respond);
  onTestFinished(() => collector.close());
  const lines: string[] = [];
  const log = createLogger({ write: (line) => lines.push(JSON.parse(line).message), now: Date.now, level: "info" });
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: "api-key=1",
    OTEL_EXPORTER_OTLP_TIMEOUT: String(timeoutMs),
  };
  const to = readTraceExport(env);
  if (!to) throw new Error("No export");
  return { collector, lines, exporter: new SpanExporter(to, () => ({ "service.name": "copra-node" }), log) };
}

it("sends spans in the JSON of OTLP, with the configured headers", async () => {
  const { collector, exporter } = await open();
  exporter.add(SPAN);
  await exporter.close();
  const attributes = { text: "a", whole: "3", part: 0.5, yes: true };
  expect(collector.spans).toEqual([
    {
      traceId: SPAN.traceId,
      spanId: SPAN.spanId,
      flags: 0x101,
      name: "task encode",
      kind: 5,
      attributes,
      startTimeUnixNano: "1700000000000250000",
      endTimeUnixNano: "1700000001000000000",
      status: { code: 2, message: "storage_denied" },
      resource: { "service.name": "copra-node" },
    },
  ]);
  expect(collector.headers).toMatchObject([{ "api-key": "1", "content-type": "application/json" }]);
});

it("sends batches, keeps a limited number of spans, and reports once that more spans were dropped", async () => {
  const { collector, lines, exporter } = await open();
  for (let at = 0; at < 5000; at++) exporter.add(SPAN);
  await vi.waitFor(() => expect(collector.spans.length).toBeGreaterThanOrEqual(2048));
  await exporter.close();
  // 512 spans were being sent while 2048 waited.
  expect([collector.spans.length, collector.headers.length]).toEqual([2560, 5]);
  expect(lines).toEqual(["spans dropped", "spans exported again"]);
});

it("drops spans that the collector does not accept, reports it once, and continues when the collector accepts spans", async () => {
  let status = 503;
  const { collector, lines, exporter } = await open(() => status);
  for (let at = 0; at < 1024; at++) exporter.add(SPAN);
  await vi.waitFor(() => expect(collector.headers).toHaveLength(2));
  await exporter.close();
  status = 200;
  exporter.add(SPAN);
  await exporter.close();
  expect(collector.spans).toHaveLength(1);
  expect(lines).toEqual(["spans dropped", "spans exported again"]);
});

it("a silent collector does not delay the end of a node", async () => {
  // Two batches would otherwise take two minutes.
  const { lines, exporter } = await open(() => null, 60_000);
  for (let at = 0; at < 600; at++) exporter.add(SPAN);
  await exporter.close();
  expect(lines).toEqual(["spans dropped"]);
});

it("a task without a trace gets a trace id from its job, and a task that is not sampled records nothing", async () => {
  const spans: Span[] = [];
  const add = (span: Span): void => void spans.push(span);
  const task = { jobId: "AAAAAAAAAAAAAA", lease: "AAAAAAAAAAAAAA.encode.2", kind: "encode", round: 0 } as never;
  const denied = new AppError("storage_denied", "No");
  const [first, second] = [traceTask(task, add), traceTask(task, add)];
  expect(first.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(second.traceId).toBe(first.traceId);
  await expect(first.step("upload", () => Promise.reject(denied))).rejects.toBe(denied);
  first.end("failed", "storage_denied");
  expect(spans).toMatchObject([
    { name: "upload", parent: { spanId: spans[1]?.spanId, isRemote: false }, error: "storage_denied" },
    { name: "task encode", parent: null, attributes: { "copra.attempt": 2, "copra.outcome": "failed" } },
  ]);
  const traceparent = `00-${SPAN.traceId}-${SPAN.spanId}-00`;
  const unsampled = traceTask({ ...(task as object), trace: { traceparent } } as never, add);
  unsampled.end("done", null);
  expect([unsampled.traceId, spans.length]).toEqual([SPAN.traceId, 2]);
  expect(traceTask(task, null).traceId).toBeNull();
});
