import type { IncomingMessage, RequestListener } from "node:http";
import { afterEach, describe, expect, it, test } from "vitest";
import { withSigned } from "#shared/network/address-policy.ts";
import {
  CLIP,
  fetchTo,
  type SendOptions,
  sendClip,
  useFetchFolder,
  VERSION,
  WHOLE,
} from "../../testing/jobs/fetched-source.ts";
import { closeServers, serve } from "../../testing/range-server.ts";

useFetchFolder();
afterEach(closeServers);

describe("a well-behaved server", () => {
  it("reads a source once, without decoding", async () => {
    const { origin, seen } = await serve((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip", "content-length": CLIP.length }).end(CLIP);
    });
    const progress: [number, number | null][] = [];
    const result = await fetchTo(`${origin}/a%20b.mp4?x=1`, { onProgress: (...bytes) => progress.push(bytes) });
    expect(result).toEqual(WHOLE);
    expect(seen.map(({ url, headers }) => [url, headers["accept-encoding"]])).toEqual([["/a%20b.mp4?x=1", "identity"]]);
    expect(progress[0]).toEqual([0, CLIP.length]);
    expect(progress.at(-1)).toEqual([CLIP.length, CLIP.length]);
  });

  it("accepts a server that does not send the size", async () => {
    const { origin } = await serve((_, response) => {
      response.write(CLIP.subarray(0, 1000));
      response.end(CLIP.subarray(1000));
    });
    expect(await fetchTo(origin)).toEqual(WHOLE);
  });

  it("sends the credentials of the URL", async () => {
    const { origin, seen } = await serve(sendClip);
    await fetchTo(origin.replace("//", "//ann:p%40ss%20%C3%A9@"));
    expect(seen[0]?.headers.authorization).toBe(`Basic ${Buffer.from("ann:p@ss é").toString("base64")}`);
  });
});

describe("a server that drops connections", () => {
  it("requests only the rest of the same version after a dropped connection", async () => {
    const { origin, seen } = await serve((request, response) => sendClip(request, response, { dropAfter: 700_000 }));
    expect(await fetchTo(origin)).toEqual(WHOLE);
    expect(seen.length).toBeGreaterThan(4);
    expect(seen[0]?.headers.range).toBeUndefined();
    for (const { headers } of seen.slice(1)) expect(headers).toMatchObject({ "if-range": '"v1"' });
  });

  it("resumes by date when the server sends no strong ETag", async () => {
    const headers = { "last-modified": "Wed, 01 Jan 2025 00:00:00 GMT" };
    const { origin, seen } = await serve((request, response) =>
      sendClip(request, response, { headers, dropAfter: 1_600_000 }),
    );
    expect(await fetchTo(origin)).toEqual(WHOLE);
    expect(seen[1]?.headers["if-range"]).toBe(headers["last-modified"]);
  });

  it("starts over if the server supports no ranges, or identifies no version", async () => {
    for (const headers of [VERSION, {}, { etag: 'W/"v1"' }]) {
      let drops = 2;
      const { origin, seen } = await serve((_, response) => {
        response.writeHead(200, { ...headers, "content-length": CLIP.length });
        if (drops-- <= 0) return void response.end(CLIP);
        response.write(CLIP.subarray(0, 500_000), () => setTimeout(() => response.destroy(), 10));
      });
      expect(await fetchTo(origin)).toEqual(WHOLE);
      expect(seen.length).toBe(3);
      expect(seen[1]?.headers.range !== undefined).toBe(headers === VERSION);
    }
  });

  it("starts over when the file changed, with or without support for If-Range", async () => {
    const old = Buffer.alloc(CLIP.length, 1);
    for (const supportsIfRange of [true, false]) {
      let first = true;
      const { origin } = await serve((request, response) => {
        if (first) sendClip(request, response, { bytes: old, headers: { etag: '"old"' }, dropAfter: 1_000_000 });
        else if (supportsIfRange || !request.headers.range) sendClip(request, response);
        else {
          const range = `bytes 1000000-${CLIP.length - 1}/${CLIP.length}`;
          response.writeHead(206, { ...VERSION, "content-range": range }).end(CLIP.subarray(1_000_000));
        }
        first = false;
      });
      expect(await fetchTo(origin)).toEqual(WHOLE);
    }
  });

  it("starts over when the server sends another range than requested", async () => {
    const { origin } = await serve((request, response) => {
      if (!request.headers.range) return sendClip(request, response, firstDrop());
      response.writeHead(206, { ...VERSION, "content-range": `bytes 0-${CLIP.length - 1}/${CLIP.length}` }).end(CLIP);
    });
    let dropped = false;
    const firstDrop = (): SendOptions => {
      const part = dropped ? {} : { dropAfter: 1000 };
      dropped = true;
      return part;
    };
    expect(await fetchTo(origin)).toEqual(WHOLE);
  });

  it("retries as often as for a responding server when the connection closes before the first byte", async () => {
    const { origin, seen } = await serve((request, response) => {
      if (seen.length > 3) return sendClip(request, response);
      response.writeHead(200, { ...VERSION, "content-length": CLIP.length }).flushHeaders();
      setTimeout(() => response.destroy(), 20);
    });
    expect(await fetchTo(origin)).toEqual(WHOLE);
    expect(seen.length).toBe(4);
  });
});

test.each([
  ["declared", { "content-length": String(CLIP.length) }],
  ["undeclared", {}],
])("a file that is too large fails: %s", async (_, headers) => {
  const { origin } = await serve((_, response) => void response.writeHead(200, headers).end(CLIP));
  await expect(fetchTo(origin, { maxBytes: 2_000_000 })).rejects.toMatchObject({ code: "input_too_large" });
});

describe("redirects", () => {
  const redirect =
    (to: string, status = 302): RequestListener =>
    (_, response) =>
      void response.writeHead(status, { location: to }).end("moved");

  it("follows redirects, without credentials once they leave the origin", async () => {
    const end = await serve(sendClip);
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

  it("sends secret headers to the origin of the URL, and not again after a redirect to another port", async () => {
    const away = await serve((request, response) => redirect(`${start.origin}${request.url}`)(request, response));
    const start = await serve((request, response) => {
      if (request.url === "/first") redirect("/second")(request, response);
      else if (request.url === "/second") redirect(`${away.origin}/third`)(request, response);
      else sendClip(request, response, { dropAfter: 1_600_000 });
    });
    const secretHeaders = { "x-token": "secret", "user-agent": "mine" };
    expect(await fetchTo(`${start.origin}/first`, { secretHeaders })).toEqual(WHOLE);
    const tokens = (seen: readonly IncomingMessage[]) => seen.map(({ url, headers }) => [url, headers["x-token"]]);
    const once = [
      ["/first", "secret"],
      ["/second", "secret"],
      ["/third", undefined],
    ];
    // The connection breaks once. The second request for the rest starts at the URL again.
    expect(tokens(start.seen)).toEqual([...once, ...once]);
    expect(tokens(away.seen)).toEqual([
      ["/third", undefined],
      ["/third", undefined],
    ]);
    expect(start.seen[0]?.headers["user-agent"]).toBe("mine");
    // Bytes that the system has not delivered when the connection breaks are requested again.
    expect(start.seen.at(-1)?.headers.range).toMatch(/^bytes=[1-9]\d*-$/);
  });

  it("follows no redirect to the service's own origin, which only a signed URL may name", async () => {
    const service = await serve(sendClip);
    const policy = withSigned("none", [service.origin]);
    expect(await fetchTo(`${service.origin}/storage/uploads/u?signature=x`, { allow: policy })).toEqual(WHOLE);
    const redirecting = await serve(redirect(service.origin));
    const allow = { networks: "none", origins: [redirecting.origin], signed: [service.origin] } as const;
    await expect(fetchTo(redirecting.origin, { allow })).rejects.toMatchObject({ code: "input_address_not_allowed" });
    expect(service.seen).toHaveLength(1);
  });

  it.each([
    ["http://10.0.0.1/clip.mp4", "input_address_not_allowed"],
    ["http://169.254.169.254/latest/meta-data/", "input_address_not_allowed"],
    ["http://[::ffff:10.0.0.1]/", "input_address_not_allowed"],
    ["file:///etc/passwd", "input_address_not_allowed"],
    ["http://", "input_address_not_allowed"],
  ])("to %s fail", async (location, code) => {
    const { origin } = await serve(redirect(location));
    await expect(fetchTo(origin)).rejects.toMatchObject({ name: "AppError", code });
  });

  it("stops after five redirects", async () => {
    const { origin, seen } = await serve(redirect("/round"));
    await expect(fetchTo(origin)).rejects.toMatchObject({ code: "input_unreachable" });
    expect(seen.length).toBeGreaterThanOrEqual(6);
  });
});

describe("error responses", () => {
  it.each([401, 403, 404, 416, 304, 204])("HTTP %i ends the fetch at once", async (status) => {
    const { origin, seen } = await serve((_, response) => void response.writeHead(status).end());
    await expect(fetchTo(`${origin}/clip.mp4?token=secret`)).rejects.toMatchObject({
      code: `input_http_${status}`,
      message: expect.not.stringContaining("secret"),
    });
    expect(seen.length).toBe(1);
  });

  it("names the bucket's region when S3 reports a wrong region", async () => {
    const messageFor = async (status: number, region: string): Promise<unknown> => {
      const { origin } = await serve(
        (_, response) => void response.writeHead(status, { "x-amz-bucket-region": region }).end(),
      );
      return fetchTo(origin).catch((error: Error) => error.message);
    };
    expect(await messageFor(301, "eu-west-1")).toMatch(
      /HTTP 301: the bucket is in the region eu-west-1; set `input.region` to it/,
    );
    expect(await messageFor(400, "<script>")).toMatch(/HTTP 400: this is not a file/);
    expect(await messageFor(403, "eu-west-1")).toMatch(/HTTP 403: access is denied/);
  });

  it("names the host, but neither credentials nor query, when the connection fails", async () => {
    const { origin } = await serve(sendClip);
    closeServers();
    await expect(fetchTo(`${origin.replace("//", "//ann:secret@")}/?token=secret`)).rejects.toMatchObject({
      code: "input_unreachable",
      message: `The host \`${origin.slice("http://".length)}\` of the input refuses connections; check the URL and its port.`,
    });
    await expect(fetchTo("http://no-such-host.invalid/?token=secret")).rejects.toMatchObject({
      code: "input_host_not_found",
      message: "The host `no-such-host.invalid` of the input cannot be found; check the URL.",
    });
  });
});
