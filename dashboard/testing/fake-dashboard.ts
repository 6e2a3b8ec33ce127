// The dashboard with an invented API, for tests of pages that do not need real data.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { buildDashboard } from "../../local/dashboard/build-dashboard.ts";

export type FakeRequest = { readonly query: URLSearchParams; readonly path: string; readonly body: unknown };
/** The body of the response, alone or with another status. */
export type FakeAnswer = unknown | { readonly status: number; readonly error_code: string; readonly message: string };
/**
 * Responses by method and path, such as `GET /v2/jobs`; `:id` is any part of a path. `EVENTS /v2/jobs/:id/events`
 * returns the first events of a stream, as pairs of event and data.
 */
export type FakeRoutes = Readonly<Record<string, (request: FakeRequest) => FakeAnswer>>;

export type FakeDashboard = {
  readonly url: string;
  /** The requests to the API so far: method, path and query. */
  readonly requests: string[];
  /** Sends an event to all open streams of a path. */
  readonly send: (path: string, event: string, data: unknown) => void;
  readonly stop: () => Promise<void>;
};

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript",
  css: "text/css",
  html: "text/html",
  woff2: "font/woff2",
};
/** The Worker's policy, which also allows images of this server. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

/** Builds the dashboard and serves it with these responses. */
export async function startFakeDashboard(routes: FakeRoutes): Promise<FakeDashboard> {
  const folder = await mkdtemp(join(tmpdir(), "copra-dashboard-"));
  await buildDashboard(folder);
  const requests: string[] = [];
  const streams = new Map<ServerResponse, string>();
  let eventId = 0;
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, search, searchParams } = new URL(request.url ?? "/", "http://localhost");
    const method = request.method ?? "GET";
    if (!pathname.startsWith("/v2/")) return sendFile(response, folder, pathname);
    requests.push(`${method} ${pathname}${search}`);
    const route = findRoute(routes, method, pathname);
    const opening =
      findRoute(routes, "EVENTS", pathname)?.({ query: searchParams, path: pathname, body: undefined }) ?? [];
    if (pathname.endsWith("/events") && Array.isArray(opening)) {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(`retry: 2000\nid: ${eventId}\n\n`);
      for (const [event, data] of opening) response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
      streams.set(response, pathname);
      response.on("close", () => streams.delete(response));
      return;
    }
    const isRefused = pathname.endsWith("/events");
    const answer = (isRefused
      ? opening
      : route?.({ query: searchParams, path: pathname, body: await bodyOf(request) })) ?? {
      status: 404,
      error_code: "route_not_found",
      message: `Nothing at ${pathname}`,
    };
    const isError = typeof answer === "object" && "error_code" in answer && "status" in answer;
    response.writeHead(isError ? Number(answer.status) : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(isError ? { ...answer, status: "error" } : answer));
  };
  const server = createServer((request, response) => {
    handle(request, response).catch((error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    send: (path, event, data) => {
      eventId += 1;
      for (const [response, of] of streams) {
        if (of === path) response.write(`event: ${event}\nid: ${eventId}\ndata: ${JSON.stringify(data)}\n\n`);
      }
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function findRoute(routes: FakeRoutes, method: string, path: string) {
  for (const [name, route] of Object.entries(routes)) {
    const [routeMethod, pattern = ""] = name.split(" ");
    const expected = pattern.split("/");
    const segments = path.split("/");
    if (routeMethod !== method || expected.length !== segments.length) continue;
    if (expected.every((part, at) => part.startsWith(":") || part === segments[at])) return route;
  }
  return undefined;
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return text === "" ? undefined : JSON.parse(text);
}

async function sendFile(response: ServerResponse, folder: string, path: string): Promise<void> {
  const isPage = path.startsWith("/dashboard");
  const file = isPage ? join(folder, "shell.html") : join(folder, "assets", basename(path));
  const body = await readFile(file).catch(() => null);
  if (body === null) return void response.writeHead(404).end();
  const type = TYPES[file.split(".").at(-1) ?? ""] ?? "application/octet-stream";
  response.writeHead(200, { "content-type": type, ...(isPage ? { "content-security-policy": POLICY } : {}) }).end(body);
}
