import { expect, it } from "vitest";
import { readTraceExport } from "./export-settings.ts";

const BASE = "OTEL_EXPORTER_OTLP_ENDPOINT";
const DEFAULTS = { headers: {}, timeoutMs: 10_000, serviceName: "copra-node", resource: {} };

it.each<[string, Record<string, string>, unknown]>([
  ["nothing", {}, null],
  ["an empty endpoint", { [BASE]: "" }, null],
  ["what switches OpenTelemetry off", { [BASE]: "http://c:4318", OTEL_SDK_DISABLED: "TRUE" }, null],
  ["an endpoint", { [BASE]: "http://c:4318/" }, { ...DEFAULTS, url: "http://c:4318/v1/traces" }],
  [
    "the protocol that other programs use at the same endpoint",
    { [BASE]: "http://c:4318", OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf" },
    { ...DEFAULTS, url: "http://c:4318/v1/traces" },
  ],
  ["an endpoint with a path", { [BASE]: "https://c/otlp" }, { ...DEFAULTS, url: "https://c/otlp/v1/traces" }],
  [
    "an endpoint for traces, which is taken as it is",
    { [BASE]: "http://c:4318", OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://t/x/" },
    { ...DEFAULTS, url: "https://t/x/" },
  ],
  [
    "headers, a service and a resource",
    {
      [BASE]: "http://c",
      OTEL_EXPORTER_OTLP_HEADERS: "api-key=a%2Cb%3D, x=1",
      OTEL_SERVICE_NAME: "encoders",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=test,service.name=no",
      OTEL_EXPORTER_OTLP_TIMEOUT: "500",
    },
    {
      url: "http://c/v1/traces",
      headers: { "api-key": "a,b=", x: "1" },
      serviceName: "encoders",
      timeoutMs: 500,
      resource: { "deployment.environment": "test" },
    },
  ],
  [
    "headers for traces",
    { [BASE]: "http://c", OTEL_EXPORTER_OTLP_HEADERS: "a=1", OTEL_EXPORTER_OTLP_TRACES_HEADERS: "b=2" },
    { ...DEFAULTS, url: "http://c/v1/traces", headers: { b: "2" } },
  ],
])("reads the export settings when the environment has %s", (_, env, expected) => {
  expect(readTraceExport(env)).toEqual(expected);
});

it.each<[string, Record<string, string>]>([
  ["OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL", { [BASE]: "localhost:4318" }],
  ["OTEL_EXPORTER_OTLP_ENDPOINT must not contain a user", { [BASE]: "http://user:secret@c" }],
  ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT must be", { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "c" }],
  ["OTEL_EXPORTER_OTLP_PROTOCOL must be http/json", { [BASE]: "http://c", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }],
  ["OTEL_EXPORTER_OTLP_HEADERS must be pairs", { [BASE]: "http://c", OTEL_EXPORTER_OTLP_HEADERS: "secret" }],
  ["OTEL_EXPORTER_OTLP_HEADERS must be pairs", { [BASE]: "http://c", OTEL_EXPORTER_OTLP_HEADERS: "a=secret%" }],
  ["OTEL_EXPORTER_OTLP_HEADERS has a name", { [BASE]: "http://c", OTEL_EXPORTER_OTLP_HEADERS: "a b=secret" }],
  ["OTEL_EXPORTER_OTLP_TIMEOUT must be", { [BASE]: "http://c", OTEL_EXPORTER_OTLP_TIMEOUT: "0" }],
])("refuses invalid export settings: %s", (message, env) => {
  expect(() => readTraceExport(env)).toThrow(message);
  expect(() => readTraceExport(env)).not.toThrow("secret");
});
