import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, test } from "vitest";
import { type Fetch, fetchSource } from "./fetch-source.ts";

const FILM = Buffer.from(Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * 2_654_435_761) >>> 11));
const VERSION: Record<string, string> = { etag: '"v1"' };

let folder: string;
const servers: Server[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "copra-fetch-"));
});
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A server on loopback; answers its origin and the requests it has seen. */
async function serve(answer: RequestListener): Promise<{ origin: string; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    answer(request, response);
  });
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const QUICK = { stallMs: 30_000, backoff: { firstMs: 5, maxMs: 5 } };

async function fetchTo(url: string, options: Partial<Fetch> = {}): Promise<{ sizeBytes: number; same: boolean }> {
  const destination = join(folder, "input.bin");
  const signal = new AbortController().signal;
  const limits = { allow: "loopback", maxBytes: 10_000_000, signal, patience: QUICK } as const;
  const { sizeBytes } = await fetchSource({ url, destination, ...limits, ...options });
  return { sizeBytes, same: (await readFile(destination)).equals(FILM) };
}
const WHOLE = { sizeBytes: FILM.length, same: true };

type Part = { headers?: Record<string, string>; film?: Buffer; dropAfter?: number };

/** Sends the film as a server that knows ranges does; the connection breaks after `dropAfter` bytes. */
function sendFilm(request: IncomingMessage, response: ServerResponse, part: Part = {}): void {
  const { headers = VERSION, film = FILM, dropAfter = Number.POSITIVE_INFINITY } = part;
  const sameVersion = request.headers["if-range"] === (headers.etag ?? headers["last-modified"]);
  const from = sameVersion ? Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0) : 0;
  const range = from > 0 ? { "content-range": `bytes ${from}-${film.length - 1}/${film.length}` } : {};
  response.writeHead(from > 0 ? 206 : 200, { ...headers, ...range, "content-length": film.length - from });
  if (dropAfter > film.length - from) return void response.end(film.subarray(from));
  response.write(film.subarray(from, from + dropAfter), () => setTimeout(() => response.destroy(), 20));
}

describe("a sound server", () => {
  it("is read once, and nothing is decoded", async () => {
    const { origin, seen } = await serve((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip", "content-length": FILM.length }).end(FILM);
    });
    const progress: [number, number | null][] = [];
    const result = await fetchTo(`${origin}/a%20b.mp4?x=1`, { onProgress: (...bytes) => progress.push(bytes) });
    expect(result).toEqual(WHOLE);
    expect(seen.map(({ url, headers }) => [url, headers["accept-encoding"]])).toEqual([["/a%20b.mp4?x=1", "identity"]]);
    expect(progress[0]).toEqual([0, FILM.length]);
    expect(progress.at(-1)).toEqual([FILM.length, FILM.length]);
  });

  it("need not say the size", async () => {
    const { origin } = await serve((_, response) => {
      response.write(FILM.subarray(0, 1000));
      response.end(FILM.subarray(1000));
    });
    expect(await fetchTo(origin)).toEqual(WHOLE);
  });

  it("gets the URL's credentials", async () => {
    const { origin, seen } = await serve(sendFilm);
    await fetchTo(origin.replace("//", "//ann:p%40ss%20%C3%A9@"));
    expect(seen[0]?.headers.authorization).toBe(`Basic ${Buffer.from("ann:p@ss é").toString("base64")}`);
  });
});

describe("a server that drops connections", () => {
  it("is asked for the rest of the same version only", async () => {
    const { origin, seen } = await serve((request, response) => sendFilm(request, response, { dropAfter: 700_000 }));
    expect(await fetchTo(origin)).toEqual(WHOLE);
    expect(seen.length).toBeGreaterThan(4);
    expect(seen[0]?.headers.range).toBeUndefined();
    for (const { headers } of seen.slice(1)) expect(headers).toMatchObject({ "if-range": '"v1"' });
  });

  it("is resumed by date when it has no strong ETag", async () => {
    const headers = { "last-modified": "Wed, 01 Jan 2025 00:00:00 GMT" };
    const { origin, seen } = await serve((request, response) =>
      sendFilm(request, response, { headers, dropAfter: 1_600_000 }),
    );
    expect(await fetchTo(origin)).toEqual(WHOLE);
    expect(seen[1]?.headers["if-range"]).toBe(headers["last-modified"]);
  });

  it("is read from the start when it knows no ranges, or names no version", async () => {
    for (const headers of [VERSION, {}, { etag: 'W/"v1"' }]) {
      let drops = 2;
      const { origin, seen } = await serve((_, response) => {
        response.writeHead(200, { ...headers, "content-length": FILM.length });
        if (drops-- <= 0) return void response.end(FILM);
        response.write(FILM.subarray(0, 500_000), () => setTimeout(() => response.destroy(), 10));
      });
      expect(await fetchTo(origin)).toEqual(WHOLE);
      expect(seen.length).toBe(3);
      expect(seen[1]?.headers.range !== undefined).toBe(headers === VERSION);
    }
  });

  it("is read from the start when the file changed, whether it heeds If-Range or not", async () => {
    const old = Buffer.alloc(FILM.length, 1);
    for (const heeds of [true, false]) {
      let first = true;
      const { origin } = await serve((request, response) => {
        if (first) sendFilm(request, response, { film: old, headers: { etag: '"old"' }, dropAfter: 1_000_000 });
        else if (heeds || !request.headers.range) sendFilm(request, response);
        else {
          const range = `bytes 1000000-${FILM.length - 1}/${FILM.length}`;
          response.writeHead(206, { ...VERSION, "content-range": range }).end(FILM.subarray(1_000_000));
        }
        first = false;
      });
      expect(await fetchTo(origin)).toEqual(WHOLE);
    }
  });

  it("is read from the start when it answers another range than asked", async () => {
    const { origin } = await serve((request, response) => {
      if (!request.headers.range) return sendFilm(request, response, firstDrop());
      response.writeHead(206, { ...VERSION, "content-range": `bytes 0-${FILM.length - 1}/${FILM.length}` }).end(FILM);
    });
    let dropped = false;
    const firstDrop = (): Part => {
      const part = dropped ? {} : { dropAfter: 1000 };
      dropped = true;
      return part;
    };
    expect(await fetchTo(origin)).toEqual(WHOLE);
  });

  it("is given up after five tries without progress", async () => {
    const { origin, seen } = await serve((request, response) => {
      if (request.headers.range) response.destroy();
      else sendFilm(request, response, { dropAfter: 1000 });
    });
    await expect(fetchTo(origin)).rejects.toMatchObject({
      code: "input_unreachable",
      message: expect.stringMatching(/^The host `127\.0\.0\.1:\d+` of the input broke the connection off/),
    });
    expect(seen.length).toBe(6);
  });
});

describe("a server that lies about the size", () => {
  it.each<[string, (request: IncomingMessage, response: ServerResponse) => void]>([
    ["content-length", (_, response) => response.writeHead(200, { ...VERSION, "content-length": 5000 }).end("short")],
    [
      "content-range",
      (request, response) => {
        if (!request.headers.range) return sendFilm(request, response, { dropAfter: 1000 });
        const from = Number(/\d+/.exec(request.headers.range)?.[0]);
        const range = `bytes ${from}-${from}/${FILM.length}`;
        response.writeHead(206, { ...VERSION, "content-range": range, "content-length": 1 }).end("x");
      },
    ],
  ])("fails: %s", async (_, answer) => {
    const { origin } = await serve((request, response) => {
      response.on("error", () => undefined);
      answer(request, response);
      setTimeout(() => request.socket.destroy(), 20);
    });
    await expect(fetchTo(origin)).rejects.toMatchObject({ code: "input_unreachable" });
  });
});

test.each([
  ["announced", { "content-length": String(FILM.length) }],
  ["unannounced", {}],
])("a file that is too large is refused: %s", async (_, headers) => {
  const { origin } = await serve((_, response) => void response.writeHead(200, headers).end(FILM));
  await expect(fetchTo(origin, { maxBytes: 2_000_000 })).rejects.toMatchObject({ code: "input_too_large" });
});

describe("redirects", () => {
  const redirect =
    (to: string, status = 302): RequestListener =>
    (_, response) =>
      void response.writeHead(status, { location: to }).end("moved");

  it("are followed, without credentials once they leave the origin", async () => {
    const end = await serve(sendFilm);
    const back = await serve((request, response) =>
      request.url === "/again"
        ? redirect("/final", 308)(request, response)
        : redirect(`${end.origin}/x`)(request, response),
    );
    const away = await serve(redirect(`${back.origin}/again`, 301));
    const start = await serve((request, response) => {
      if (request.url === "/home") redirect(away.origin)(request, response);
      else redirect("/home", 307)(request, response);
    });
    expect(await fetchTo(start.origin.replace("//", "//ann:secret@"))).toEqual(WHOLE);
    const carried = [start, away, back, end].map(({ seen }) => seen.map(({ headers }) => "authorization" in headers));
    expect(carried).toEqual([[true, true], [false], [false, false], [false]]);
  });

  it.each([
    ["http://10.0.0.1/film.mp4", "input_address_not_allowed"],
    ["http://169.254.169.254/latest/meta-data/", "input_address_not_allowed"],
    ["http://[::ffff:10.0.0.1]/", "input_address_not_allowed"],
    ["file:///etc/passwd", "input_address_not_allowed"],
    ["http://", "input_address_not_allowed"],
  ])("to %s are refused", async (location, code) => {
    const { origin } = await serve(redirect(location));
    await expect(fetchTo(origin)).rejects.toMatchObject({ name: "AppError", code });
  });

  it("end after five", async () => {
    const { origin, seen } = await serve(redirect("/round"));
    await expect(fetchTo(origin)).rejects.toMatchObject({ code: "input_unreachable" });
    expect(seen.length).toBeGreaterThanOrEqual(6);
  });
});

describe("refusals", () => {
  it.each([401, 403, 404, 416, 304, 204])("HTTP %i ends the fetch at once", async (status) => {
    const { origin, seen } = await serve((_, response) => void response.writeHead(status).end());
    await expect(fetchTo(`${origin}/film.mp4?token=secret`)).rejects.toMatchObject({
      code: `input_http_${status}`,
      message: expect.not.stringContaining("secret"),
    });
    expect(seen.length).toBe(1);
  });

  it("by S3 say where the bucket lies, if it is the region that is wrong", async () => {
    const refusal = async (status: number, region: string): Promise<unknown> => {
      const { origin } = await serve(
        (_, response) => void response.writeHead(status, { "x-amz-bucket-region": region }).end(),
      );
      return fetchTo(origin).catch((error: Error) => error.message);
    };
    expect(await refusal(301, "eu-west-1")).toMatch(
      /HTTP 301: the bucket lies in eu-west-1; set `input.region` to that/,
    );
    expect(await refusal(400, "<script>")).toMatch(/HTTP 400: this is no file/);
    expect(await refusal(403, "eu-west-1")).toMatch(/HTTP 403: access is refused/);
  });

  it("a passing 503 is tried again", async () => {
    let refusals = 1;
    const { origin } = await serve((request, response) => {
      if (refusals-- > 0) response.writeHead(503).end();
      else sendFilm(request, response);
    });
    expect(await fetchTo(origin)).toEqual(WHOLE);
  });

  it("addresses that are not allowed are never asked", async () => {
    const { origin, seen } = await serve(sendFilm);
    for (const url of [origin, origin.replace("127.0.0.1", "localhost"), "ftp://example.com/a.mp4"]) {
      await expect(fetchTo(url, { allow: "none" })).rejects.toMatchObject({ code: "input_address_not_allowed" });
    }
    expect(seen).toEqual([]);
  });

  it("names the host, and neither credentials nor query, when nobody answers", async () => {
    const { origin } = await serve(sendFilm);
    servers.splice(0)[0]?.close();
    await expect(fetchTo(`${origin.replace("//", "//ann:secret@")}/?token=secret`)).rejects.toMatchObject({
      code: "input_unreachable",
      message: `The host \`${origin.slice("http://".length)}\` of the input refuses connections; check the URL and its port.`,
    });
    await expect(fetchTo("http://no-such-host.invalid/?token=secret")).rejects.toMatchObject({
      code: "input_unreachable",
      message: "The host `no-such-host.invalid` of the input cannot be found; check the URL.",
    });
  });
});

it("gives up on a server that falls silent", async () => {
  const { origin, seen } = await serve((_, response) => void response.writeHead(200, VERSION).write("x"));
  const patience = { ...QUICK, stallMs: 300 };
  await expect(fetchTo(origin, { patience })).rejects.toMatchObject({ code: "input_timeout" });
  expect(seen.length).toBe(6);
});

it("rejects with the reason of an abort, at once", async () => {
  const { origin } = await serve((_, response) => void response.writeHead(200, VERSION).write("x"));
  const controller = new AbortController();
  const reason = new Error("superseded");
  const onProgress = (): void => void setTimeout(() => controller.abort(reason), 20);
  await expect(fetchTo(origin, { signal: controller.signal, onProgress })).rejects.toBe(reason);
  await expect(fetchTo(origin, { signal: controller.signal })).rejects.toBe(reason);
});

it("blames the node when its disk cannot be written", async () => {
  const { origin } = await serve(sendFilm);
  await expect(fetchTo(origin, { destination: join(folder, "no", "such") })).rejects.toMatchObject({
    code: "node_failed",
  });
  await expect(fetchTo(origin, { destination: "/dev/full" })).rejects.toMatchObject({ code: "node_failed" });
});
