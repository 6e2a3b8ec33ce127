// A service for the client's tests that misbehaves like a network, in scenarios: `<origin>/<scenario>/<any id>/v2/…`.
// `…/requests` returns the requests of the id so far. Browsers may use it, too.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    clientService: string;
  }
}

type Received = { method: string; path: string; headers: IncomingMessage["headers"]; size: number };
/** Answers a request. `number` counts the requests of the id from 1; `before` has the earlier requests. */
type Scenario = (response: ServerResponse, request: Received, number: number, before: readonly Received[]) => void;

const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void =>
  void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
const failure = (response: ServerResponse, status: number, code: string, headers?: Record<string, string>): void =>
  json(response, status, { message: `\`input.url\` is missing`, error_code: code, status: "error" }, headers);

const job = (progress: string, status = "job.starting") => {
  const outputs = status === "job.failed" ? [{ key: "mp4", error: "No space" }] : [];
  return { id: "job", status, progress, completed_at: status === "job.starting" ? null : "now", input: {}, outputs };
};
const event = (name: string, data: unknown, id = "", end = "\n"): string =>
  `${id === "" ? "" : `id: ${id}${end}`}event: ${name}${end}data: ${JSON.stringify(data)}${end}${end}`;

/** Writes the text in two halves, then ends, drops or keeps the connection. */
function stream(response: ServerResponse, text: string, then: "end" | "drop" | "stay"): void {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  const middle = Math.floor(text.length / 2);
  response.write(text.slice(0, middle));
  setTimeout(() => {
    response.write(text.slice(middle), () => {
      if (then === "end") response.end();
      if (then === "drop") setTimeout(() => response.destroy(), 20);
    });
  }, 20);
}

const UPLOAD = { id: "u", name: "a", size: 10, part_size: 4, status: "open", parts: [], expires_at: "later" };

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  flaky: (response, _, number) => {
    if (number === 1) failure(response, 503, "service_unavailable", { "retry-after": "0" });
    else if (number === 2) failure(response, 429, "rate_limited", { "retry-after": "0.01" });
    else if (number === 3) response.destroy();
    else json(response, 201, job("0%"));
  },
  invalid: (response) => failure(response, 400, "input_url_not_valid", { "x-request-id": "r-1" }),
  proxy: (response) => void response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>"),
  blocked: (response) => void response.writeHead(403, { "content-type": "text/plain" }).end("error code: 1010"),
  halved: (response, _, number) => {
    if (number > 1) return json(response, 200, job("0%"));
    response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
    response.write('{"id":"jo', () => setTimeout(() => response.destroy(), 20));
  },
  refused: (response, { method }) =>
    method === "PUT" ? failure(response, 409, "upload_state_conflict") : json(response, 201, UPLOAD),
  busy: (response, _, number) =>
    number === 1
      ? failure(response, 429, "rate_limited", { "retry-after": "0" })
      : failure(response, 500, "internal_error"),
  down: (response) => failure(response, 503, "service_unavailable", { "retry-after": "60" }),
  pages: (response, { path }) => {
    const ids = path.includes("cursor=c2") ? ["3"] : ["1", "2"];
    json(response, 200, { jobs: ids.map((id) => ({ id })), next_cursor: ids.length === 2 ? "c2" : null });
  },
  follow: (response, _, number) => {
    const first = `retry: 2000\r\n\r\n: ping\r\n\r\n${event("job", job("0%"), "1", "\r\n")}`;
    const second = event("job", job("50%"), "2");
    if (number === 1) return stream(response, `${first}${second}event: job\ndata: {"id":`, "drop");
    if (number === 2) return stream(response, "", "end");
    const done = job("100%", "job.completed");
    stream(response, `${event("tasks", { tasks: [] })}${second}${event("job", done)}${event("end", done)}`, "stay");
  },
  crowded: (response, { path }) =>
    path.endsWith("/events")
      ? failure(response, 429, "rate_limited")
      : json(response, 200, job("100%", "job.completed")),
  failing: (response) => {
    const failed = job("100%", "job.failed");
    stream(response, event("job", failed) + event("end", failed), "end");
  },
  events: (response, { headers }) => {
    const after = Number(headers["last-event-id"]);
    const next = [1, 2].map((step) => event("job", { id: `${after + step}` }, String(after + step)));
    stream(response, next.join(""), "drop");
  },
  silent: (response, _, number) => {
    if (number === 1) stream(response, "", "stay");
    else stream(response, event("gap", { missed: true }), "stay");
  },
  upload: (response, { method, path }, _, before) => {
    const first = before.every((request) => request.path !== path);
    if (method === "PUT" && path.endsWith("/2") && first) return failure(response, 503, "service_unavailable");
    if (method === "PUT") return json(response, 200, { number: Number(path.at(-1)), size: 4, etag: "e" });
    json(response, 200, { ...UPLOAD, status: path.endsWith("/complete") ? "completed" : "open" });
  },
  resumed: (response, { path }) =>
    json(response, 200, {
      ...UPLOAD,
      status: path.endsWith("/complete") ? "completed" : "open",
      parts: [1, 2].map((number) => ({ number, size: 4, etag: "e" })),
    }),
};

export async function startClientService(): Promise<{ origin: string; stop: () => void }> {
  const received = new Map<string, Received[]>();
  const server = createServer((request, response) => {
    response.setHeader("access-control-allow-origin", "*");
    response.setHeader("access-control-allow-headers", "authorization, content-type, idempotency-key, last-event-id");
    response.setHeader("access-control-allow-methods", "*");
    response.setHeader("access-control-expose-headers", "retry-after, x-request-id");
    if (request.method === "OPTIONS") return void response.writeHead(204).end();
    const { method = "", url = "", headers } = request;
    // Pages of this origin may use WebCrypto.
    if (url === "/") return void response.writeHead(200, { "content-type": "text/html" }).end();
    const [, name = "", id = "", path = ""] = /^\/(\w+)\/(\w+)(\/.*)$/.exec(url) ?? [];
    if (path === "/requests") return json(response, 200, received.get(id) ?? []);
    let size = 0;
    request.on("data", (bytes: Buffer) => {
      size += bytes.length;
    });
    request.once("end", () => {
      const upload = { method, path, headers, size };
      const before = received.get(id) ?? [];
      received.set(id, [...before, upload]);
      SCENARIOS[name]?.(response, upload, before.length + 1, before);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

export default async function setup(project: TestProject): Promise<() => void> {
  const { origin, stop } = await startClientService();
  project.provide("clientService", origin);
  return stop;
}
