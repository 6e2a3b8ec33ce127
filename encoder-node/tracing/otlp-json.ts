// Spans in the JSON encoding of OTLP 1.x (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): ids are
// hexadecimal, 64-bit integers are strings, and enumerations are numbers.

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** The numbers of `SpanKind`. */
export const SPAN_KINDS = { internal: 1, client: 3, consumer: 5 } as const;

export type Span = {
  readonly traceId: string;
  readonly spanId: string;
  /** Null in the root of a trace. */
  readonly parent: { readonly spanId: string; readonly isRemote: boolean } | null;
  readonly traceState?: string | undefined;
  readonly name: string;
  readonly kind: keyof typeof SPAN_KINDS;
  /** ms since 1970, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  /** The reason of the failure; null: success. */
  readonly error: string | null;
};

/**
 * W3C flags in the lowest byte: all exported spans are sampled. The next two bits: `isRemote` is known, and its value.
 */
const FLAGS = { sampled: 0x01, isRemoteKnown: 0x100, isRemote: 0x200 } as const;
const STATUS_ERROR = 2;

/** The body of an export request. */
export function exportRequest(resource: Attributes, spans: readonly Span[]): unknown {
  const scope = { name: "copra" };
  return {
    resourceSpans: [
      { resource: { attributes: keyValues(resource) }, scopeSpans: [{ scope, spans: spans.map(spanJson) }] },
    ],
  };
}

function spanJson(span: Span): unknown {
  const { traceId, spanId, parent, traceState, name, kind, startMs, endMs, attributes, error } = span;
  return {
    traceId,
    spanId,
    ...(traceState === undefined ? {} : { traceState }),
    ...(parent === null ? {} : { parentSpanId: parent.spanId }),
    flags: FLAGS.sampled | FLAGS.isRemoteKnown | (parent?.isRemote ? FLAGS.isRemote : 0),
    name,
    kind: SPAN_KINDS[kind],
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: keyValues(attributes),
    status: error === null ? {} : { code: STATUS_ERROR, message: error },
  };
}

/** Exact to the microsecond: the product stays below 2^53. */
const nanoseconds = (ms: number): string => `${Math.round(ms * 1000)}000`;

const keyValues = (attributes: Attributes): unknown[] =>
  Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: anyValue(value) }]));

function anyValue(value: string | number | boolean): unknown {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
