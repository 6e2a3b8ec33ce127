import { env } from "cloudflare:workers";
import { Hono } from "hono";
import { expect, it, vi } from "vitest";
import { AppError } from "#shared/errors.ts";
import { basic, newAccount } from "../../testing/jobs.ts";
import { app } from "../app.ts";
import { onError } from "./json-response.ts";

const SECRET = "inner words";

it.each<[string, Error, number, string]>([
  ["an error of our own", new Error(SECRET), 500, "internal_error"],
  ["a code that is for statuses only", new AppError("node_lost", "The node was lost"), 500, "node_lost"],
  ["an overloaded object", Object.assign(new Error(SECRET), { overloaded: true }), 503, "service_unavailable"],
  ["a lost object", Object.assign(new Error(SECRET), { retryable: true }), 503, "service_unavailable"],
])("%s becomes an error response without internal details", async (_, error, status, code) => {
  const failing = new Hono().get("/", () => {
    throw error;
  });
  failing.onError(onError);
  const answer = await failing.request("/");
  const text = await answer.text();
  expect(JSON.parse(text)).toEqual({ message: expect.any(String), error_code: code, status: "error" });
  expect(answer.status).toBe(status);
  expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(answer.headers.get("retry-after")).toBe(status === 503 ? "5" : null);
  expect(text).not.toContain(SECRET);
});

it("logs internal details in a single line, without passwords and queries of URLs", async () => {
  const lines = vi.spyOn(console, "log");
  const failing = new Hono().get("/a", () => {
    throw new Error("cannot fetch https://me:pass@host.test/a?sig=1", {
      cause: new Error("http://me:pass@host.test/?b"),
    });
  });
  failing.onError(onError);
  await failing.request("/a?token=2");
  const written = lines.mock.calls.map(([line]) => String(line));
  lines.mockRestore();
  expect(written).toHaveLength(1);
  expect(JSON.parse(written[0] ?? "")).toMatchObject({
    level: "error",
    message: "request failed",
    path: "/a",
    stack: expect.stringContaining("json-response.test.ts"),
    error: "cannot fetch https://host.test/a?…",
    cause: "http://host.test/?…",
  });
  expect(written[0]).not.toMatch(/pass|sig=|token/);
});

it.each(["/v2/ingest/web/secret-token", "/v2/links/secret-token", "/v2/links/secret-token/parts/1"])(
  "logs no token of %s",
  async (path) => {
    const lines = vi.spyOn(console, "log");
    const failing = new Hono().get("*", () => {
      throw new Error("failed");
    });
    failing.onError(onError);
    await failing.request(path);
    const written = lines.mock.calls.map(([line]) => String(line));
    lines.mockRestore();
    expect(written.join()).toContain("request failed");
    expect(written.join()).not.toContain("secret-token");
  },
);

it("returns 429 for too many requests with the same key, but not for another key", async () => {
  const [busy, calm] = [await newAccount(), await newAccount()];
  const tight = { ...env, CLIENT_RATE: env.TIGHT_RATE };
  const ask = async (key: string) => app.request("/v2/jobs", { headers: basic(key) }, tight);
  // The limit is two a minute. A minute may end and another start meanwhile.
  const answers: Response[] = [];
  for (let at = 0; at < 5; at++) answers.push(await ask(busy.key));
  const refused = answers.find(({ status }) => status === 429);
  expect(answers[0]?.status).toBe(200);
  expect(refused?.headers.get("retry-after")).toBe("10");
  expect(await refused?.json()).toMatchObject({ error_code: "rate_limited", status: "error" });
  expect((await ask(calm.key)).status).toBe(200);
});
