// A fake of Cloudflare's account API for deploys: databases on SQLite, buckets, Workers with their versions, secrets
// and assets. The responses have the formats that wrangler 4 reads, and all fields that Cloudflare's published API
// schemas require. They were compared with the types of the npm package cloudflare 7.3.0, which are made from the
// schemas.
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import * as z from "zod";
import { type Call, FakeDatabases, type Reply, refuse } from "./fake-databases.ts";

const ACCOUNT_ID = "0123456789abcdef0123456789abcdef";
const TOKEN = "token-of-the-account";
const ACCOUNT = { id: ACCOUNT_ID, name: "Someone's account", type: "standard" };

const Metadata = z.looseObject({
  main_module: z.string(),
  bindings: z.array(z.looseObject({ name: z.string(), type: z.string() })),
  annotations: z.record(z.string(), z.string()).optional(),
  /** The classes of the Worker's objects. */
  exports: z.record(z.string(), z.looseObject({ type: z.string() })).optional(),
});

/** The last uploaded version of a Worker. */
export type FakeWorker = {
  readonly name: string;
  versionId: string;
  metadata: z.infer<typeof Metadata>;
  modules: Record<string, string>;
  secrets: Record<string, string>;
  readonly createdAt: string;
};

const Assets = z.object({ manifest: z.record(z.string(), z.object({ hash: z.string() })) });

const NO_WORKER = refuse(404, 10007, "This Worker does not exist on your account.");

export class FakeCloudflare {
  /** The changes of the account, in order: `create database copra`, `migrate 0000_….sql`, `deploy copra` … */
  readonly changes: string[] = [];
  /** Requests that this fake does not know. Tests fail if there are any. */
  readonly unknown: string[] = [];
  readonly #databases = new FakeDatabases(this.changes);
  readonly databases = this.#databases.all;
  readonly buckets = new Set<string>();
  readonly workers = new Map<string, FakeWorker>();
  /** The files that Cloudflare serves besides the Worker. */
  assets: readonly string[] = [];
  hasR2 = true;
  /** The account's name at workers.dev; null: a new account without a name. */
  subdomain: string | null = "someone";
  /** Paths that start with `start` are forbidden for the token; the response has the code. */
  denied: { readonly start: string; readonly code: number } | null = null;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#answer(request).then(({ status = 200, result = null, code, message }) => {
        const success = code === undefined;
        response.writeHead(status, { "content-type": "application/json" });
        response.end(JSON.stringify({ success, errors: success ? [] : [{ code, message }], messages: [], result }));
      });
    });
  }

  static async start(): Promise<FakeCloudflare> {
    const fake = new FakeCloudflare();
    await new Promise<void>((resolve) => fake.#server.listen(0, "127.0.0.1", resolve));
    return fake;
  }

  /** The environment in which wrangler uses this account. */
  get env(): Record<string, string> {
    const { port } = this.#server.address() as AddressInfo;
    return {
      CLOUDFLARE_API_BASE_URL: `http://127.0.0.1:${port}/client/v4`,
      CLOUDFLARE_API_TOKEN: TOKEN,
      CLOUDFLARE_ACCOUNT_ID: "",
      WRANGLER_SEND_METRICS: "false",
    };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage): Promise<Reply> {
    const { pathname } = new URL(request.url ?? "/", "http://fake");
    const call: Call = {
      method: request.method ?? "",
      path: pathname.replace("/client/v4", "").replace(`/accounts/${ACCOUNT_ID}`, ""),
      body: async () => Buffer.concat(await request.toArray()),
    };
    if (request.headers.authorization !== `Bearer ${TOKEN}` && !call.path.startsWith("/workers/assets/")) {
      return refuse(403, 10000, "Authentication error");
    }
    if (this.denied && call.path.startsWith(this.denied.start)) {
      const message = "The given account is not valid or is not authorized to access this service";
      return refuse(403, this.denied.code, message);
    }
    const contentType = request.headers["content-type"] ?? "";
    const answer =
      this.#account(call) ??
      (await this.#databases.answer(call)) ??
      (await this.#bucket(call)) ??
      (await this.#worker(call, contentType));
    if (answer) return answer;
    this.unknown.push(`${call.method} ${call.path}`);
    return refuse(404, 7003, "Could not route to the path");
  }

  #account({ path }: Call): Reply | null {
    if (path === "/user/tokens/verify") return { result: { id: "t", status: "active" } };
    if (path === "/user") return refuse(403, 9109, "Unauthorized to access requested resource");
    if (path === "/accounts") return { result: [ACCOUNT] };
    if (path === "/memberships") return { result: [{ account: ACCOUNT }] };
    if (path !== "/workers/subdomain") return null;
    return this.subdomain === null
      ? refuse(404, 10007, "workers.api.error.subdomain_not_found")
      : { result: { subdomain: this.subdomain } };
  }

  async #bucket({ method, path, body }: Call): Promise<Reply | null> {
    if (!path.startsWith("/r2/buckets")) return null;
    if (!this.hasR2) return refuse(403, 10042, "Please enable R2 through the Cloudflare Dashboard.");
    if (method === "POST") {
      const { name } = z.object({ name: z.string() }).parse(JSON.parse(String(await body())));
      this.buckets.add(name);
      this.changes.push(`create bucket ${name}`);
      return { result: bucketOf(name) };
    }
    const [, , , name] = path.split("/");
    if (name === undefined) return { result: { buckets: [...this.buckets].map(bucketOf) } };
    if (!this.buckets.has(name)) return refuse(404, 10006, "The specified bucket does not exist.");
    return { result: bucketOf(name) };
  }

  async #worker(call: Call, contentType: string): Promise<Reply | null> {
    const { method, path } = call;
    const [, name, verb = ""] = /^\/workers\/(?:scripts|services|workers)\/([^/]+)(?:\/(.+))?$/.exec(path) ?? [];
    if (path.startsWith("/workers/assets/upload")) {
      await call.body();
      return { status: 201, result: { jwt: JWT } };
    }
    if (name === undefined) return null;
    if (verb === "assets-upload-session") {
      const { manifest } = Assets.parse(JSON.parse(String(await call.body())));
      this.assets = Object.keys(manifest).sort();
      return { result: { jwt: JWT, buckets: [Object.values(manifest).map(({ hash }) => hash)] } };
    }
    const worker = this.workers.get(name);
    if (method === "PUT" && verb === "") return this.#upload(name, call, contentType);
    if (method === "POST" && verb === "versions") return this.#upload(name, call, contentType);
    if (!worker) return NO_WORKER;
    if (path.startsWith("/workers/workers/")) return { result: aboutWorker(worker) };
    return this.#ofWorker(worker, method, path.startsWith("/workers/services") ? "service" : verb);
  }

  #ofWorker(worker: FakeWorker, method: string, verb: string): Reply | null {
    const { versionId, createdAt, metadata } = worker;
    if (verb === "service") {
      const script = { id: worker.name, tag: "tag", last_deployed_from: "wrangler" };
      return { result: { default_environment: { environment: "production", script } } };
    }
    if (verb === "secrets")
      return { result: Object.keys(worker.secrets).map((name) => ({ name, type: "secret_text" })) };
    if (verb === "subdomain") return { result: { enabled: true, previews_enabled: true } };
    if (verb === "schedules") return { result: { schedules: [] } };
    if (verb === "settings" || verb === "script-settings") return { result: { bindings: metadata.bindings, tags: [] } };
    if (verb === "deployments") {
      const current = {
        id: randomUUID(),
        source: "wrangler",
        strategy: "percentage",
        created_on: createdAt,
        annotations: {},
      };
      const deployment = { ...current, versions: [{ version_id: versionId, percentage: 100 }] };
      return { result: method === "POST" ? deployment : { deployments: [deployment] } };
    }
    if (verb === `versions/${versionId}`) {
      const resources = { bindings: metadata.bindings, script: { etag: "etag" }, script_runtime: {} };
      return { result: { id: versionId, number: 1, metadata: {}, annotations: metadata.annotations ?? {}, resources } };
    }
    return null;
  }

  async #upload(name: string, { body }: Call, contentType: string): Promise<Reply> {
    const form = await new Response(new Uint8Array(await body()), {
      headers: { "content-type": contentType },
    }).formData();
    const metadata = Metadata.parse(JSON.parse(String(form.get("metadata"))));
    const modules: Record<string, string> = {};
    for (const [key, value] of form)
      if (key !== "metadata" && typeof value !== "string") modules[key] = await value.text();
    // An account that already has a Worker needs no subdomain for others.
    if (this.subdomain === null && this.workers.size === 0) {
      return refuse(403, 10063, "You need a workers.dev subdomain in order to proceed.");
    }
    const before = this.workers.get(name);
    const missing = this.#missingResource(metadata);
    if (missing !== null) return refuse(400, 10021, missing);
    const secrets = metadata.bindings.flatMap((binding) =>
      binding.type === "secret_text" ? [[binding.name, String(binding.text)] as const] : [],
    );
    const [versionId, createdAt] = [randomUUID(), new Date().toISOString()];
    const all = { ...before?.secrets, ...Object.fromEntries(secrets) };
    this.workers.set(name, { name, versionId, createdAt, metadata, modules, secrets: all });
    const names = secrets.map(([secret]) => secret).sort();
    this.changes.push(`deploy ${name}${names.length > 0 ? ` with ${names.join(" ")}` : ""}`);
    const ids = { id: versionId, deployment_id: versionId.replaceAll("-", ""), etag: "etag", startup_time_ms: 10 };
    return { result: { ...ids, resources: { script: { etag: "etag" } }, entry_point: metadata.main_module } };
  }

  /** As at Cloudflare, the resources in a Worker's bindings must exist. */
  #missingResource({ bindings }: FakeWorker["metadata"]): string | null {
    for (const binding of bindings) {
      const [database, bucket, script] = [binding.id, binding.bucket_name, binding.script_name];
      if (binding.type === "d1" && !this.databases.has(String(database))) return `no database ${database}`;
      if (binding.type === "r2_bucket" && !this.buckets.has(String(bucket))) return `no bucket ${bucket}`;
      if (script !== undefined && !this.workers.has(String(script))) return `no Worker ${script}`;
    }
    return null;
  }
}

const aboutWorker = ({ name, createdAt }: FakeWorker): object => ({
  id: name,
  name,
  created_on: createdAt,
  updated_on: createdAt,
  logpush: false,
  tags: [],
  tail_consumers: [],
  observability: { enabled: true },
  subdomain: { enabled: true, previews_enabled: true },
  references: {},
});

const bucketOf = (name: string): object => ({
  name,
  creation_date: new Date(0).toISOString(),
  jurisdiction: "default",
  location: "weur",
  storage_class: "Standard",
});

/** wrangler reads the expiry time of this token. */
const JWT = `e30.${Buffer.from(JSON.stringify({ exp: 4_000_000_000 })).toString("base64")}.x`;
