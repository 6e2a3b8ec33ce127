// A collector of traces: takes OTLP over HTTP in JSON, strictly.
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import * as z from "zod";

const Id = (digits: number) => z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`));
const Nanoseconds = z.string().regex(/^[1-9]\d{18}$/);
const Value = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
  z.strictObject({ doubleValue: z.number() }),
]);
const Attributes = z
  .array(z.strictObject({ key: z.string().min(1), value: Value }))
  .transform((pairs) => Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]])));

const Span = z.strictObject({
  traceId: Id(32),
  spanId: Id(16),
  parentSpanId: Id(16).optional(),
  traceState: z.string().optional(),
  flags: z.int(),
  name: z.string().min(1),
  kind: z.int().min(1).max(5),
  startTimeUnixNano: Nanoseconds,
  endTimeUnixNano: Nanoseconds,
  attributes: Attributes,
  status: z.strictObject({ code: z.literal(2).optional(), message: z.string().optional() }),
});
export type CollectedSpan = z.infer<typeof Span> & { readonly resource: Readonly<Record<string, unknown>> };

/** ExportTraceServiceRequest of OTLP 1.x. */
const ExportRequest = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes: Attributes }),
      scopeSpans: z.array(z.strictObject({ scope: z.strictObject({ name: z.string() }), spans: z.array(Span) })),
    }),
  ),
});

export type TraceCollector = {
  readonly endpoint: string;
  readonly spans: CollectedSpan[];
  /** The headers of each request. */
  readonly headers: IncomingHttpHeaders[];
  close(): void;
};

/** `respond` returns the status of a request, or null to leave it without a response. */
export async function startTraceCollector(respond: () => number | null = () => 200): Promise<TraceCollector> {
  const [spans, headers]: [CollectedSpan[], IncomingHttpHeaders[]] = [[], []];
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString();
    const parsed = request.method === "POST" && request.url === "/v1/traces" ? parse(text) : null;
    headers.push(request.headers);
    const status = parsed ? respond() : 400;
    if (status === null) return;
    if (status === 200) spans.push(...(parsed ?? []));
    response.writeHead(status, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    headers,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function parse(text: string): CollectedSpan[] {
  return ExportRequest.parse(JSON.parse(text)).resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, resource: resource.attributes }))),
  );
}
