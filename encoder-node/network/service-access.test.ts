// A node tests the service's own origins on real sockets.
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { originAllowed, withoutSigned } from "#shared/network/address-policy.ts";
import type { ServiceOrigin } from "#shared/protocol/frames.ts";
import { silentLog } from "../testing/silent-log.ts";
import { ServiceAccess } from "./service-access.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function serve(answer: RequestListener, port = 0): Promise<string> {
  const server = createServer(answer).listen(port, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Returns an origin at whose port nothing listens. */
async function freeOrigin(): Promise<string> {
  const origin = await serve(() => undefined);
  servers.pop()?.close();
  return origin;
}

const controlPlane: RequestListener = (_, response) => void response.end('{"status":"ok","nodes":1}');
const bucket: RequestListener = (_, response) => void response.writeHead(403).end("<Error/>");
const captivePortal: RequestListener = (_, response) => void response.end("<html>Sign in</html>");
const gateway: RequestListener = (_, response) => void response.writeHead(502).end();

/** `url`: the control plane as the node reaches it. Strangers' addresses must be public. */
function open(service: ServiceOrigin[], url = "http://127.0.0.1:8787") {
  const changed = vi.fn();
  const access = new ServiceAccess({ allow: "none", url, log: silentLog, changed });
  onTestFinished(() => access.close());
  access.welcome(service);
  return { access, changed };
}

it("is not ready before it has tested the origins, and allows them only for URLs that the service has signed", async () => {
  const service: ServiceOrigin[] = [
    { origin: await serve(controlPlane), use: "control plane" },
    { origin: await serve(bucket), use: "scratch" },
  ];
  const { access, changed } = open(service);
  expect(access.notReady).toEqual([expect.stringContaining("not yet tested")]);
  await vi.waitFor(() => expect(access.notReady).toEqual([]));
  expect(changed).toHaveBeenCalledTimes(1);
  for (const { origin } of service) {
    expect([originAllowed(origin, access.allow), originAllowed(origin, withoutSigned(access.allow))]).toEqual([
      true,
      false,
    ]);
  }
});

it.each<[string, RequestListener | null, ServiceOrigin["use"], RegExp]>([
  ["nothing listens", null, "scratch", /^Cannot reach http:\/\/127.*\(connection refused\).*--s3-url/],
  ["a gateway finds no server", gateway, "scratch", /\(HTTP 502\)/],
  ["another program answers", captivePortal, "control plane", /\(another program answers there\).*--public-url/],
])("states that it cannot reach an origin when %s", async (_, answer, use, reason) => {
  const { access } = open([{ origin: answer ? await serve(answer) : await freeOrigin(), use }]);
  await vi.waitFor(() => expect(access.notReady).toEqual([expect.stringMatching(reason)]));
});

it("recognizes an origin that names the node's machine instead of the service's machine, with any answer", async () => {
  const origin = await serve(controlPlane);
  const { access } = open([{ origin, use: "control plane" }], "http://192.168.1.10:8787");
  await vi.waitFor(() =>
    expect(access.notReady).toEqual([
      expect.stringMatching(
        /it is a loopback URL, .*Start the service with --public-url http:\/\/<address of that machine>:/,
      ),
    ]),
  );
});

it("the service becomes ready when an origin can be reached later", async () => {
  const origin = await freeOrigin();
  const { access, changed } = open([{ origin, use: "scratch" }]);
  await vi.waitFor(() => expect(access.notReady[0]).toContain("connection refused"));
  await serve(bucket, Number(new URL(origin).port));
  await vi.waitFor(() => expect(access.notReady).toEqual([]));
  expect(changed).toHaveBeenCalledTimes(2);
});

it("tests again when the hub states new origins, and skips the test when all origins are known", async () => {
  const first: ServiceOrigin = { origin: await serve(bucket), use: "scratch" };
  const { access, changed } = open([first]);
  await vi.waitFor(() => expect(access.notReady).toEqual([]));
  access.welcome([first]);
  expect(access.notReady).toEqual([]);
  access.welcome([{ ...first, origin: await freeOrigin() }]);
  expect(originAllowed(first.origin, access.allow)).toBe(false);
  await vi.waitFor(() => expect(access.notReady[0]).toContain("connection refused"));
  expect(changed).toHaveBeenCalledTimes(3);
});
