import { expect } from "vitest";
import type { NodeList } from "../../client/index.ts";
import { it, type TestServer } from "../../test/fixtures.ts";
import { fleetCheck, serviceChecks } from "./service-checks.ts";

/** Runs the checks on a service with this response to `GET /v2/health/ready`. */
async function checksOf(server: TestServer, status: number, body: object) {
  server.handle((request, response) => {
    const isReady = request.url === "/v2/health/ready";
    response.writeHead(isReady ? status : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(isReady ? body : { status: "ok", nodes: 1 }));
  });
  const url = server.origin;
  const context = { env: {}, globals: { url }, signal: new AbortController().signal, now: Date.now };
  return serviceChecks(context as unknown as Parameters<typeof serviceChecks>[0]);
}

const notReady = {
  status: "error",
  error_code: "service_unavailable",
  message: "The service is not ready: the database does not answer",
};
it.for<[string, number, object, object[]]>([
  ["is ready", 200, { status: "ready", nodes: 1 }, [{ result: "ok" }]],
  ["is not, and why", 503, notReady, [{ result: "failed", detail: expect.stringContaining(notReady.message) }]],
])("reports that a service %s", async ([, status, body, expected], { server }) => {
  const checks = await checksOf(server, status, body);
  expect(checks.filter(({ name }) => name === "ready")).toMatchObject(expected);
});

it.each([
  ["in order", {}, "ok"],
  ["of another version", { version: "0.9.0" }, "missing"],
  ["in quarantine", { state: "quarantined" }, "missing"],
  ["with a full disk", { disk: { free_bytes: 1e9, total_bytes: 2e12 } }, "missing"],
])("counts a node %s", (_, changes, result) => {
  const node = { state: "ready", version: "1.0.0", disk: { free_bytes: 1e12, total_bytes: 2e12 }, ...changes };
  const check = fleetCheck([node as NodeList["nodes"][number]], "1.0.0");
  expect(check).toMatchObject({ result, detail: `1 nodes, ${result === "ok" ? 0 : 1} with problems` });
});
