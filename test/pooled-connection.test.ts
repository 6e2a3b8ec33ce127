// Clients that reuse their connection lose no request on it, whatever the previous answer was.
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { json } from "node:stream/consumers";
import { afterAll, expect, it } from "vitest";
import { basicAuth } from "../local/stack/access.ts";
import { sharedStack } from "./stack.ts";

const stack = sharedStack();
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
afterAll(() => agent.destroy());

async function ask(method: string, path: string, body = "", headers = {}): Promise<{ status: number; isOld: boolean }> {
  const sent = request(`${stack.api}${path}`, { agent, method, headers: { "user-agent": "test", ...headers } });
  sent.end(body);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  await json(answer);
  return { status: answer.statusCode ?? 0, isOld: sent.reusedSocket };
}

it.each([
  ["POST", "/jobs", 401, {}],
  ["POST", "/admin/accounts", 401, {}],
  ["PUT", "/jobs", 405, { own: true }],
  ["PATCH", "/health", 405, {}],
  ["POST", "/nowhere", 404, {}],
  ["POST", "/jobs?dry_run=perhaps", 400, { own: true }],
  ["POST", "/jobs", 400, { own: true }],
])("reuses the connection after %s %s with %i", async (method, path, status, { own = false }: { own?: boolean }) => {
  const headers = own ? { authorization: basicAuth(stack.apiKey) } : {};
  for (const body of ["x", "x".repeat(900_000)]) {
    expect((await ask(method, path, body, headers)).status).toBe(status);
    expect(await ask("GET", "/health")).toEqual({ status: 200, isOld: true });
  }
});
