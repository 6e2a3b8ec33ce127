// Reads where spans are exported to, from the environment variables of OpenTelemetry.

type Environment = Readonly<Partial<Record<string, string>>>;

export type TraceExport = {
  /** Receives POSTs of OTLP over HTTP, in JSON. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly serviceName: string;
  /** Further attributes of the resource. */
  readonly resource: Readonly<Record<string, string>>;
};

/** Time limit for the collector's responses (OTLP exporter specification). */
const TIMEOUT_MS = 10_000;
const MAX_TIMEOUT_MS = 60_000;
/** A collector receives both protocols at the same URL (OTLP/HTTP). */
const HTTP: ReadonlySet<string> = new Set(["http/json", "http/protobuf"]);

/**
 * Null when nothing is exported. A variable for traces overrides the variable for all signals. An empty variable counts
 * as unset. Throws a message for the operator, which repeats no header.
 */
export function readTraceExport(env: Environment): TraceExport | null {
  const setting = (name: string): string | undefined =>
    env[`OTEL_EXPORTER_OTLP_TRACES_${name}`] || env[`OTEL_EXPORTER_OTLP_${name}`] || undefined;
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if ((!endpoint && !base) || env.OTEL_SDK_DISABLED?.toLowerCase() === "true") return null;
  const protocol = setting("PROTOCOL") ?? "http/json";
  if (!HTTP.has(protocol)) {
    throw new Error(`OTEL_EXPORTER_OTLP_PROTOCOL must be http/json, or not set: ${protocol} is not supported`);
  }
  const { OTEL_SERVICE_NAME: name, OTEL_RESOURCE_ATTRIBUTES: attributes } = env;
  const { "service.name": service, ...resource } = readPairs("OTEL_RESOURCE_ATTRIBUTES", attributes);
  return {
    url: endpoint
      ? checkedUrl("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", endpoint)
      : `${checkedUrl("OTEL_EXPORTER_OTLP_ENDPOINT", base ?? "").replace(/(?<!\/)\/+$/, "")}/v1/traces`,
    headers: checkedHeaders(readPairs("OTEL_EXPORTER_OTLP_HEADERS", setting("HEADERS"))),
    timeoutMs: checkedTimeout(setting("TIMEOUT")),
    serviceName: name || service || "copra-node",
    resource,
  };
}

function checkedUrl(name: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new Error(`${name} must be an http or https URL, such as http://localhost:4318`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new Error(`${name} must not contain a user or password: set OTEL_EXPORTER_OTLP_HEADERS`);
  }
  return text;
}

/** Pairs such as `api-key=a%2Cb,other=c`, as in W3C Baggage. */
function readPairs(name: string, text = ""): Record<string, string> {
  const members = text.split(",").filter((member) => member.trim() !== "");
  return Object.fromEntries(
    members.map((member) => {
      const at = member.indexOf("=");
      try {
        if (at > 0) return [member.slice(0, at).trim(), decodeURIComponent(member.slice(at + 1).trim())];
      } catch {
        // An invalid escape.
      }
      throw new Error(`${name} must be pairs such as name=value, separated by commas, with values percent-encoded`);
    }),
  );
}

function checkedHeaders(headers: Record<string, string>): Record<string, string> {
  try {
    return Object.fromEntries(new Headers(headers));
  } catch {
    throw new Error("OTEL_EXPORTER_OTLP_HEADERS has a name or a value that no header may have");
  }
}

function checkedTimeout(text: string | undefined): number {
  const timeoutMs = Number(text ?? TIMEOUT_MS);
  if (Number.isInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS) return timeoutMs;
  throw new Error(`OTEL_EXPORTER_OTLP_TIMEOUT must be 1 to ${MAX_TIMEOUT_MS} ms`);
}
