import { expect, inject, it } from "vitest";
import { FailedConnection, fetchWithin } from "./fetch-within.ts";

type Answer = { status: number; headers?: Record<string, string>; body?: string; echo?: boolean };

/** Returns the body of a response, or the reason why there is none. */
async function bodyOf(answer: Answer, init: RequestInit = {}): Promise<string> {
  const encoded = btoa(JSON.stringify(answer)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const request = new Request(`${inject("answers")}/${encoded}/video.mp4`, init);
  return await fetchWithin(10_000, request, (response) => response.text()).catch((error: unknown) => {
    if (error instanceof FailedConnection) return `${error.reason}: ${error.message}`;
    throw error;
  });
}

const server = "cloudflare";
const RULE = "forbidden: the host is blocked by settings of its Cloudflare zone";
it.each<[Answer, string]>([
  [{ status: 530, body: "error code: 1016" }, "unknown host: the host does not exist in DNS"],
  [{ status: 530, body: "<html>Error 1033</html>" }, "timeout: the host does not respond"],
  [{ status: 520 }, "broken: the host closed the connection before it responded"],
  [{ status: 521, body: "error code: 521" }, "refused: the host refuses connections"],
  [{ status: 522 }, "timeout: the host does not respond"],
  [{ status: 523 }, "timeout: the host does not respond"],
  [{ status: 524 }, "timeout: the host does not respond"],
  [{ status: 525 }, "certificate: the host has no valid certificate"],
  [{ status: 526 }, "certificate: the host has no valid certificate"],
  [{ status: 403, headers: { server }, body: "error code: 1003" }, "ip address: the host has an IP address"],
  [{ status: 409, headers: { server }, body: "error code: 1000\n" }, RULE],
  [{ status: 403, headers: { server }, body: "error code: 1014" }, RULE],
])("takes the response %j of Cloudflare's edge for a failed connection", async (answer, failure) => {
  expect((await bodyOf(answer)).slice(0, failure.length)).toBe(failure);
});

it.each<Answer>([
  { status: 403, headers: { server }, body: `<Error><Code>AccessDenied</Code>${"x".repeat(3000)}</Error>` },
  { status: 403, headers: { server }, body: "" },
  { status: 403, headers: { server: "nginx" }, body: "error code: 1003" },
  { status: 404, headers: { server }, body: "error code: 1003" },
  { status: 503, headers: { server }, body: "error code: 1003" },
  { status: 403, headers: { server }, body: "error code: 2003" },
])("reads the response %j of a server", async (answer) => {
  expect(await bodyOf(answer)).toBe(answer.body);
});

it("names the service in each request", async () => {
  expect(JSON.parse(await bodyOf({ status: 200, echo: true }))["user-agent"]).toMatch(/^copra\/\d/);
});

it("lets no response come from a cache, and adds no Cache-Control that an object could inherit", async () => {
  const cachingOf = async (init: RequestInit) =>
    JSON.parse(await bodyOf({ status: 200, echo: true }, init))["cache-control"] ?? null;
  expect(await cachingOf({})).toBe("no-cache");
  for (const method of ["POST", "PUT"]) expect(await cachingOf({ method, body: "x" })).toBeNull();
});
