import { convertV4MiniflareOptions, Miniflare, Request } from "miniflare";
import { expect } from "vitest";
import { it, startServer, untilEnd } from "../../test/fixtures.ts";
import { ROOT } from "../home/constants.ts";
import { FAILED_HEADER, guardedOutbound } from "./outbound.ts";
import { serviceFiles } from "./service-files.ts";
import { workerOptions } from "./worker-options.ts";

const { origin } = untilEnd(
  await startServer((request, response) => {
    if (request.url === "/moved") response.writeHead(302, { location: "http://10.0.0.1/" }).end();
    else
      response
        .writeHead(request.url === "/empty" ? 204 : 201, {
          "x-size": request.headers["content-length"] ?? "none",
          "x-method": request.method,
        })
        .end("ok");
  }),
);

const files = await serviceFiles();

it("the local Worker rejects requests without the front's secret on both of its ports", async () => {
  const worker = workerOptions(files, "loopback", { FRONT_SECRET: "the secret" });
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({ ...worker, host: "127.0.0.1", port: 0, cf: false, telemetry: { enabled: false } }),
  );
  try {
    const direct = await miniflare.unsafeGetDirectURL();
    const statusOf = async (base: URL, headers: Record<string, string>) =>
      (await fetch(new URL("/v2/openapi.json", base), { headers })).status;
    const right = { "copra-front": "the secret" };
    expect(await statusOf(direct, right)).toBe(200);
    for (const headers of [{}, { "copra-front": "a guess" }]) {
      for (const base of [direct, await miniflare.ready]) expect(await statusOf(base, headers)).toBe(404);
    }
    const door = new URL("/cdn-cgi/local/r2/public/copra-storage/job/a.jpg", direct);
    expect((await fetch(door, { headers: right })).headers.get("content-type")).toMatch(/^application\/json/);
  } finally {
    await miniflare.dispose();
  }
});

it("puts no folder name of this machine into the Worker's code and description", () => {
  const { script, assets: _, ...description } = files;
  const [code = "", map = ""] = script.split("sourceMappingURL=data:application/json;base64,");
  const texts = [code, Buffer.from(map, "base64").toString(), JSON.stringify(description)];
  for (const text of texts) expect(text.indexOf(ROOT.replace(/\/$/, ""))).toBe(-1);
  expect(texts[1]).toContain("worker/index.ts");
});

const send = async (url: string, init: ConstructorParameters<typeof Request>[1] = {}) => {
  const answer = await guardedOutbound("loopback")(new Request(url, init));
  const failure = answer.headers.get(FAILED_HEADER);
  return { status: answer.status, answer, failure: failure === null ? null : decodeURIComponent(failure) };
};

it.each(["http://10.0.0.1/", "http://169.254.169.254/latest", "http://[fd00::1]/", "http://router.internal/"])(
  "rejects the Worker's request to %s before it is sent",
  async (url) => {
    expect((await send(url)).failure).toMatch(/^The host `.*` resolves to a network that requests may not reach$/);
  },
);

it("closes the connection of a webhook that gets no response", async ({ server }) => {
  const closed = Promise.withResolvers<void>();
  server.handle(({ socket }) => socket.once("close", () => closed.resolve()));
  const url = `${server.origin}/hook`;
  const webhook = new Request(url, { method: "POST", headers: { "webhook-id": "a" }, body: "{}" });
  const answer = await guardedOutbound("loopback", "direct", 100)(webhook);
  expect(decodeURIComponent(answer.headers.get(FAILED_HEADER) ?? "")).toMatch(/Timeout/i);
  await closed.promise;
});

it("returns responses to the Worker's requests unchanged, also redirects", async () => {
  const accepted = await send(`${origin}/a`, { method: "POST", body: "abc" });
  expect([accepted.status, accepted.failure, accepted.answer.headers.get("x-size")]).toEqual([201, null, "3"]);
  expect(await accepted.answer.text()).toBe("ok");
  expect((await send(`${origin}/empty`)).status).toBe(204);
  const moved = await send(`${origin}/moved`, { redirect: "manual" });
  expect([moved.status, moved.answer.headers.get("location")]).toEqual([302, "http://10.0.0.1/"]);
  expect((await send("http://127.0.0.1:9/")).failure).toMatch(/ECONNREFUSED/);
});

const sendByEdge = async (url: string, method = "GET") => {
  const answer = await guardedOutbound("loopback", "edge")(new Request(url, { method }));
  return [answer.status, answer.headers.get("server"), await answer.text()];
};

it.each([
  ["whose host does not exist", "https://does-not-exist.invalid/", 530, "error code: 1016"],
  ["that is refused", "http://127.0.0.1:9/", 521, "error code: 521"],
  ["to an IPv4 address", "https://8.8.8.8:9000/", 403, "error code: 1003"],
  ["to an IPv6 address", "https://[2606:4700::1]/", 403, "error code: 1003"],
  ["to a network that is not allowed", "http://10.0.0.1/", 409, "error code: 1000"],
])("responds like Cloudflare's edge to a request %s", async (_, url, status, body) => {
  expect(await sendByEdge(url)).toEqual([status, "cloudflare", body]);
});

it("sends, like Cloudflare's edge, a GET for a HEAD of cacheable files, but not of other files", async () => {
  const outbound = guardedOutbound("loopback", "edge");
  const methodOf = async (path: string, method: string) =>
    (await outbound(new Request(`${origin}${path}`, { method }))).headers.get("x-method");
  expect(await methodOf("/a/video.MP4?x=1", "HEAD")).toBe("GET");
  expect(await methodOf("/a/index.m3u8", "HEAD")).toBe("HEAD");
  expect(await methodOf("/a/video.mp4", "DELETE")).toBe("DELETE");
});
