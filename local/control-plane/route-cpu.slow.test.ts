// A budget of processor time for each documented request, in workerd with the bundled Worker and its objects. The Free
// plan allows a request 10 ms. Figures of a test machine say little about Cloudflare's, and emulated databases dominate
// them. So the unit is a request that only authenticates and reads a row.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod";
import { serviceFiles } from "./service-files.ts";
import { workerOptions } from "./worker-options.ts";

const SECRETS = { FRONT_SECRET: "f", ADMIN_TOKEN: "a".repeat(44), MASTER_SECRET: "m".repeat(44) };
/** In units. Measured 2026-11-28: 0.1 to 2.2 units. */
const BUDGET = 5;
/** Requests that start an object. Measured: 5.5, 2.7, 2.5 and 2.3 units. */
const BUDGETS: Readonly<Record<string, number>> = {
  "post /v2/jobs": 15,
  "post /v2/probes": 8,
  "post /v2/uploads": 8,
  "post /v2/upload-links": 8,
};
/** The least of several rounds counts: garbage collection and compilers add time to single rounds only. */
const ROUNDS = 3;
const REQUESTS = 4;

const Operation = z.looseObject({
  security: z.array(z.record(z.string(), z.array(z.string()))),
  requestBody: z
    .looseObject({
      content: z.record(z.string(), z.looseObject({ examples: z.record(z.string(), z.object({ value: z.json() })) })),
    })
    .optional()
    .catch(undefined),
  responses: z.json(),
});
const Document = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), z.json())) });

let miniflare: Miniflare;
let base: URL;
const tokens: Record<string, string> = { adminToken: `Bearer ${SECRETS.ADMIN_TOKEN}` };

beforeAll(async () => {
  const worker = workerOptions(await serviceFiles(), "loopback", { ...SECRETS, LOG_LEVEL: "error" });
  const options = { ...worker, host: "127.0.0.1", port: 0, cf: false, telemetry: { enabled: false } } as const;
  miniflare = new Miniflare(convertV4MiniflareOptions({ ...options, handleStructuredLogs: () => {} }));
  await miniflare.ready;
  base = await miniflare.unsafeGetDirectURL();
  const created = await send("post", "/v2/admin/accounts", "adminToken", { name: "me" });
  const { api_key: key } = z.object({ api_key: z.string() }).parse(await created.json());
  tokens.apiKey = `Basic ${btoa(`${key}:`)}`;
});
afterAll(() => miniflare.dispose());

async function send(method: string, path: string, access?: string, body?: unknown): Promise<Response> {
  return await fetch(new URL(path, base), {
    method: method.toUpperCase(),
    redirect: "manual",
    headers: {
      "copra-front": SECRETS.FRONT_SECRET,
      "content-type": "application/json",
      ...(access === undefined ? {} : { authorization: tokens[access] ?? "" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** Processor time of this process's workerd so far, in ms (proc(5), scheduler statistics in ns). */
function workerdMs(): number {
  const children = readdirSync("/proc").filter(isWorkerd);
  expect(children).toHaveLength(1);
  const tasks = `/proc/${children[0]}/task`;
  return readdirSync(tasks).reduce(
    (sum, task) => sum + Number(readFileSync(join(tasks, task, "schedstat"), "utf8").split(" ")[0]) / 1e6,
    0,
  );
}

function isWorkerd(pid: string): boolean {
  try {
    const [, name, parent] = /\((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    return name === "workerd" && Number(parent) === process.pid;
  } catch {
    return false;
  }
}

/** The least processor time of a request among the rounds, in ms. */
async function leastMs(run: () => Promise<Response>): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = workerdMs();
    for (let sent = 0; sent < REQUESTS; sent++) {
      const response = await run();
      // Streams of events do not end by themselves.
      if (response.headers.get("content-type")?.startsWith("text/event-stream")) await response.body?.cancel();
      else await response.arrayBuffer();
    }
    rounds.push((workerdMs() - before) / REQUESTS);
  }
  return Math.min(...rounds);
}

/** Runs each documented operation with its first example, by its method and path. */
async function documentedCalls(): Promise<[string, () => Promise<Response>][]> {
  const { paths } = Document.parse(await (await send("get", "/v2/openapi.json")).json());
  const [, createJob] = callOf("post", "/v2/jobs", Operation.parse(paths["/v2/jobs"]?.post), "");
  const { id } = z.object({ id: z.string() }).parse(await (await createJob()).json());
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, value]) => {
      const operation = Operation.safeParse(value).data;
      return operation ? [callOf(method, path, operation, id)] : [];
    }),
  );
}

function callOf(
  method: string,
  path: string,
  { security, requestBody }: z.infer<typeof Operation>,
  id: string,
): [string, () => Promise<Response>] {
  const access = security.flatMap(Object.keys).find((name) => name in tokens);
  const [example] = Object.values(requestBody?.content ?? {}).flatMap(({ examples }) => Object.values(examples));
  const url = path.replace(/\{\w+\}/g, id);
  return [`${method} ${path}`, () => send(method, url, access, example?.value)];
}

/** It sends a thousand requests, one after the other. */
const LIMIT_MS = 600_000;

it("answers each documented request within its budget", { timeout: LIMIT_MS }, async () => {
  const calls = await documentedCalls();
  expect(calls.length).toBeGreaterThan(80);
  const unit = () => leastMs(() => send("get", "/v2/templates/no-such-template", "apiKey"));
  const units = [await unit()];
  const figures: [string, number][] = [];
  for (const [name, run] of calls) figures.push([name, await leastMs(run)]);
  units.push(await unit());
  const share = (ms: number): number => Number((ms / Math.max(...units)).toFixed(1));
  const overBudget = figures.filter(([name, ms]) => share(ms) > (BUDGETS[name] ?? BUDGET));
  expect(overBudget.map(([name, ms]) => `${name} takes ${share(ms)} times as much`)).toEqual([]);
});
