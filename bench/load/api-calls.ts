// The API calls of the load test, each repeated until there is a response.
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { basicAuth } from "../../local/stack/access.ts";
import type { Stack } from "../../local/stack/stack.ts";
import type { Observations } from "./observations.ts";

const RETRY_MS = 200;

export async function newNodeToken(stack: Pick<Stack, "describe">, observations: Observations): Promise<string> {
  const { api, adminToken } = stack.describe();
  const headers = { authorization: `Bearer ${adminToken}` };
  const response = await call(`${api}/admin/node-tokens`, { headers, body: { name: "load" } }, observations);
  return z.object({ node_token: z.string() }).parse(response).node_token;
}

export async function newAccount(stack: Pick<Stack, "describe">, observations: Observations): Promise<string> {
  const { api, adminToken } = stack.describe();
  const headers = { authorization: `Bearer ${adminToken}` };
  const response = await call(`${api}/admin/accounts`, { headers, body: { name: "load" } }, observations);
  return z.object({ api_key: z.string() }).parse(response).api_key;
}

export const basic = (key = "") => ({ authorization: basicAuth(key) });

type RequestOptions = { readonly headers: Readonly<Record<string, string>>; readonly body?: object };

/**
 * Repeats a request until there is a response, as a good client does. Throws on responses from 400 to 499 except 429.
 */
export async function call(
  url: string,
  { headers, body }: RequestOptions,
  observations: Observations,
): Promise<unknown> {
  for (;;) {
    const sent = body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers };
    const response = await fetch(url, sent).catch(() => null);
    const text = await response?.text().catch(() => null);
    if (response?.ok && text) return JSON.parse(text);
    if (response && text && response.status < 500 && response.status !== 429) throw new Error(`${url}: ${text}`);
    observations.retries += 1;
    await sleep(RETRY_MS);
  }
}

const Page = z.object({
  jobs: z.array(z.object({ id: z.string(), status: z.string() })),
  next_cursor: z.string().nullable(),
});

export async function listJobs(
  api: string,
  key: string,
  observations: Observations,
): Promise<{ id: string; status: string }[]> {
  const jobs: { id: string; status: string }[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query: string = cursor ? `&cursor=${cursor}` : "";
    const page = Page.parse(await call(`${api}/jobs?limit=100${query}`, { headers: basic(key) }, observations));
    jobs.push(...page.jobs);
    cursor = page.next_cursor;
  }
  return jobs;
}
