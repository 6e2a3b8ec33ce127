// Runs the uploads of a fake account in workerd: its Worker with its secrets, and the schema of its database.
import { convertV4MiniflareOptions, Miniflare, type V4WorkerOptions } from "miniflare";
import type { FakeCloudflare, FakeWorker } from "./fake-cloudflare.ts";

/** `folder`: for the data of the Worker. */
export async function runUploaded(account: FakeCloudflare, folder: string): Promise<Miniflare> {
  const workers = [...account.workers.values()];
  const miniflare = new Miniflare(
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
  const database = await miniflare.getD1Database("DB", "copra");
  for (const { data } of account.databases.values()) {
    const rows = data.prepare("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'").all();
    await database.batch(rows.map(({ sql }) => database.prepare(String(sql))));
  }
  return miniflare;
}

function optionsOf({ name, metadata, modules, secrets }: FakeWorker): V4WorkerOptions {
  const { bindings, main_module: main } = metadata;
  const ofType = (type: string) => bindings.filter((binding) => binding.type === type);
  const named = <Value>(type: string, read: (binding: (typeof bindings)[number]) => Value): Record<string, Value> =>
    Object.fromEntries(ofType(type).map((binding) => [binding.name, read(binding)]));
  return {
    name,
    modules: true,
    script: modules[main] ?? "",
    compatibilityDate: "2026-08-15",
    compatibilityFlags: ["global_fetch_strictly_public"],
    bindings: { ...named("plain_text", ({ text }) => String(text)), ...secrets },
    d1Databases: named("d1", () => "copra"),
    r2Buckets: named("r2_bucket", ({ bucket_name: bucket }) => String(bucket)),
    ratelimits: named("ratelimit", ({ namespace_id: id }) => ({
      namespace_id: String(id),
      simple: { limit: 1000, period: 60 as const },
    })),
    durableObjects: named("durable_object_namespace", ({ class_name: className, script_name: scriptName }) => ({
      className: String(className),
      useSQLite: true,
      ...(scriptName === undefined ? {} : { scriptName: String(scriptName) }),
    })),
  };
}
