// Runs the uploads of a fake account in workerd: its Worker with its secrets, and an empty database.
import { convertV4MiniflareOptions, Miniflare, type V4ModuleDefinition, type V4WorkerOptions } from "miniflare";
import { DIST } from "../../dashboard/build-dashboard.ts";
import type { FakeCloudflare, FakeWorker } from "./fake-cloudflare.ts";

/** `folder`: for the data of the Worker. */
export function runUploaded(account: FakeCloudflare, folder: string): Miniflare {
  const workers = [...account.workers.values()];
  return new Miniflare(
    convertV4MiniflareOptions({
      host: "127.0.0.1",
      port: 0,
      cf: false,
      telemetry: { enabled: false },
      resourcePersistencePath: folder,
      // The tests do not need the Worker's logs.
      handleStructuredLogs: () => {},
      workers: workers.map(optionsOf),
    }),
  );
}

/** The modules of an upload, the main module first. */
const modulesOf = ({ metadata: { main_module: main }, modules }: FakeWorker): V4ModuleDefinition[] =>
  [main, ...Object.keys(modules).filter((path) => path !== main && !path.endsWith(".map"))].map((path) => ({
    type: path.endsWith(".sql") ? "Text" : "ESModule",
    path,
    contents: modules[path] ?? "",
  }));

function optionsOf(worker: FakeWorker): V4WorkerOptions {
  const { name, metadata, secrets } = worker;
  const { bindings, exports: classes = {} } = metadata;
  const ofType = (type: string) => bindings.filter((binding) => binding.type === type);
  const named = <Value>(type: string, read: (binding: (typeof bindings)[number]) => Value): Record<string, Value> =>
    Object.fromEntries(ofType(type).map((binding) => [binding.name, read(binding)]));
  return {
    name,
    modules: modulesOf(worker),
    compatibilityDate: "2026-08-15",
    compatibilityFlags: ["global_fetch_strictly_public"],
    bindings: { ...named("plain_text", ({ text }) => String(text)), ...secrets },
    serviceBindings: named("assets", () => ({ disk: { path: DIST, writable: false } })),
    d1Databases: named("d1", () => "copra"),
    r2Buckets: named("r2_bucket", ({ bucket_name: bucket }) => String(bucket)),
    ratelimits: named("ratelimit", ({ namespace_id: id }) => ({
      namespace_id: String(id),
      simple: { limit: 1000, period: 60 as const },
    })),
    durableObjects: named("durable_object_namespace", ({ class_name: className, script_name: scriptName }) => ({
      className: String(className),
      useSQLite: classes[String(className)]?.storage === "sqlite",
      ...(scriptName === undefined ? {} : { scriptName: String(scriptName) }),
    })),
  };
}
