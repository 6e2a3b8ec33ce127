// A stand-in for wrangler in tests about the steps of a deploy. It uploads configurations without bundling code, which
// takes wrangler seconds.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import * as z from "zod";
import { ROOT } from "../../home/constants.ts";
import type { Wrangler } from "../wrangler.ts";
import { ACCOUNT_ID, TOKEN } from "./fake-cloudflare.ts";

const Config = z.looseObject({
  name: z.string(),
  main: z.string(),
  d1_databases: z.array(z.object({ binding: z.string(), database_id: z.string().optional() })).default([]),
  r2_buckets: z.array(z.object({ binding: z.string(), bucket_name: z.string() })).default([]),
  durable_objects: z.object({
    bindings: z.array(z.object({ name: z.string(), class_name: z.string(), script_name: z.string().optional() })),
  }),
});
type Config = z.infer<typeof Config>;

/** Runs commands against the API of a fake account. `code`: the content of each bundle. */
export const quickWrangler =
  (api: string, code: () => string): Wrangler =>
  async (args, { env = {} } = {}) => {
    const option = (name: string): string | undefined => args[args.indexOf(name) + 1 || args.length];
    const config = Config.parse(JSON.parse(readFileSync(option("--config") ?? "", "utf8")));
    const send = (path: string, init: RequestInit): Promise<Response> =>
      fetch(`${api}/accounts/${ACCOUNT_ID}${path}`, { ...init, headers: { authorization: `Bearer ${TOKEN}` } });
    if (args[0] === "d1") return await applyMigrations(config, send);
    if (args.includes("--dry-run")) {
      const folder = option("--outdir") ?? "";
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `${basename(config.main, ".ts")}.js`), code());
      return DONE;
    }
    const secretsFile = option("--secrets-file");
    const secrets = secretsFile === undefined ? {} : SecretValues.parse(JSON.parse(readFileSync(secretsFile, "utf8")));
    const body = new FormData();
    body.set("metadata", JSON.stringify(metadataOf(config, secrets, option("--tag"))));
    const response = await send(`/workers/scripts/${config.name}`, { method: "PUT", body });
    if (!response.ok) return { code: 1, stdout: "", stderr: await response.text() };
    const line = { type: "deploy", targets: [`${config.name}.someone.workers.dev`, "schedule: */2 * * * *"] };
    writeFileSync(env.WRANGLER_OUTPUT_FILE_PATH ?? "", `${JSON.stringify(line)}\n`);
    return DONE;
  };

const DONE = { code: 0, stdout: "", stderr: "" };
const SecretValues = z.record(z.string(), z.string());

function metadataOf(config: Config, secrets: Readonly<Record<string, string>>, tag: string | undefined): object {
  const { d1_databases: databases, r2_buckets: buckets, durable_objects: objects } = config;
  return {
    main_module: "worker.js",
    ...(tag === undefined ? {} : { annotations: { "workers/tag": tag } }),
    bindings: [
      ...Object.entries(secrets).map(([name, text]) => ({ type: "secret_text", name, text })),
      ...databases.map(({ binding, database_id: id }) => ({ type: "d1", name: binding, id })),
      ...buckets.map(({ binding, bucket_name: bucket }) => ({ type: "r2_bucket", name: binding, bucket_name: bucket })),
      ...objects.bindings.map((binding) => ({ type: "durable_object_namespace", ...binding })),
    ],
  };
}

async function applyMigrations(
  { d1_databases: [database] }: Config,
  send: (path: string, init: RequestInit) => Promise<Response>,
): Promise<typeof DONE> {
  const query = (sql: string): Promise<Response> =>
    send(`/d1/database/${database?.database_id}/query`, { method: "POST", body: JSON.stringify({ sql }) });
  await query("CREATE TABLE IF NOT EXISTS d1_migrations (name TEXT UNIQUE)");
  for (const name of readdirSync(join(ROOT, "migrations"))
    .filter((file) => file.endsWith(".sql"))
    .sort()) {
    await query(`INSERT OR IGNORE INTO d1_migrations (name) values ('${name}')`);
  }
  return DONE;
}
