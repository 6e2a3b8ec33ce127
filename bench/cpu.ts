// Measures the CPU time that the Worker, its objects and the emulated D1 take for a request of each route: for the
// first request of a workerd process, and for a request among many. Cloudflare's Free plan allows 10 ms for each.
// Usage: node local/bootstrap.mjs bench/cpu.ts [--requests 50]
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { storageOf } from "../local/demo/demo-job.ts";
import { basicAuth } from "../local/stack/access.ts";
import { startStack } from "../local/stack/stack.ts";
import { childrenNamed } from "../test/hostile/children.ts";

const { values } = parseArgs({ options: { requests: { type: "string", default: "50" } } });
const REQUESTS = Number(values.requests);

const outputs = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`mp4:${320 + 2 * at}x180`, { path: `${at}.mp4` }]));

type Described = { api: string; apiKey: string; adminToken: string };
type Route = { readonly name: string; readonly path: string; readonly init: RequestInit };

/** `id` names a job with two outputs. */
function routesOf({ api, apiKey, adminToken }: Described, id: string, jobOf: (count: number) => string): Route[] {
  const own = { headers: { authorization: basicAuth(apiKey) } };
  const admin = { headers: { authorization: `Bearer ${adminToken}` } };
  const post = (count: number): RequestInit => ({
    method: "POST",
    headers: { ...own.headers, "content-type": "application/json" },
    body: jobOf(count),
  });
  const route = (name: string, path: string, init: RequestInit = own): Route => ({ name, path: api + path, init });
  return [
    route("POST /jobs, 2 outputs", "/jobs", post(2)),
    route("POST /jobs, 10 outputs", "/jobs", post(10)),
    route("POST /jobs, 30 outputs", "/jobs", post(30)),
    route("POST /jobs?dry_run=true, 10 outputs", "/jobs?dry_run=true", post(10)),
    route("GET /jobs/:id", `/jobs/${id}`),
    route("GET /jobs?limit=20", "/jobs?limit=20"),
    route("GET /jobs/counts", "/jobs/counts"),
    route("GET /jobs/:id/tasks", `/jobs/${id}/tasks`),
    route("GET /metadata/jobs/:id", `/metadata/jobs/${id}`),
    route("GET /usage", "/usage"),
    route("GET /admin/nodes", "/admin/nodes", admin),
    { name: "GET /metrics", path: api.replace(/v2$/, "metrics"), init: admin },
    route("GET /health", "/health", {}),
    route("GET /openapi.json", "/openapi.json", {}),
    { name: "GET /docs", path: api.replace(/v2$/, "docs"), init: {} },
    { name: "GET /dashboard", path: api.replace(/v2$/, "dashboard"), init: {} },
    route("a wrong API key", "/jobs", { headers: { authorization: basicAuth("k-wrong") } }),
    route("an unknown path", "/nowhere", {}),
  ];
}

/** CPU time in ms of all threads of workerd (proc(5): the first field of schedstat is in ns). */
function cpuMs(workerd: string): number {
  const folder = `/proc/${workerd}/task`;
  const times = readdirSync(folder).map((thread) => readFileSync(join(folder, thread, "schedstat"), "utf8"));
  return times.reduce((sum, text) => sum + Number(text.split(" ", 1)[0]), 0) / 1e6;
}

const send = async ({ path, init }: Route): Promise<number> => {
  const response = await fetch(path, init);
  await response.arrayBuffer();
  return response.status;
};

const home = mkdtempSync(join(tmpdir(), "copra-cpu-"));

async function withService<Value>(measure: (routes: Route[], cpu: () => number) => Promise<Value>): Promise<Value> {
  const stack = await startStack({ home, port: 0, s3Port: 0, nodes: 0 }, { notify: () => {} });
  try {
    const described = stack.describe();
    const jobOf = (count: number): string =>
      JSON.stringify({
        input: { url: "https://media.example.com/a.mp4" },
        storage: storageOf(described),
        outputs: outputs(count),
        notification: { type: "http", url: "http://127.0.0.1:9/" },
      });
    const headers = { authorization: basicAuth(described.apiKey) };
    const list = await fetch(`${described.api}/jobs?limit=1`, { headers });
    const { jobs } = (await list.json()) as { jobs: { id: string }[] };
    const routes = routesOf(described, jobs[0]?.id ?? "none", jobOf);
    const [workerd] = await childrenNamed(/^workerd$/, described.pids.controlPlane);
    if (!workerd) throw new Error("workerd does not run");
    return await measure(routes, () => cpuMs(workerd.pid));
  } finally {
    await stack.stop();
  }
}

try {
  await withService(async ([post]) => (post ? [await send(post), await send(post)] : []));
  const steady = await withService(async (routes, cpu) => {
    const all = new Map<string, { ms: number; status: number }>();
    for (const route of routes) {
      for (let warm = 0; warm < REQUESTS / 5; warm++) await send(route);
      const before = cpu();
      let status = 0;
      for (let at = 0; at < REQUESTS; at++) status = await send(route);
      all.set(route.name, { ms: (cpu() - before) / REQUESTS, status });
    }
    return all;
  });
  console.log("route".padEnd(40), "status", "first ms".padStart(10), "steady ms".padStart(10));
  for (const [at, [name, { ms, status }]] of [...steady].entries()) {
    const first = await withService(async (routes, cpu) => {
      const before = cpu();
      const route = routes[at];
      if (route) await send(route);
      return cpu() - before;
    });
    console.log(name.padEnd(40), String(status).padStart(6), first.toFixed(1).padStart(10), ms.toFixed(1).padStart(10));
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
