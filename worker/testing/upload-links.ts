// Upload links for tests of the Worker: requests of the account, and of a browser at the link's URL.
import { env, exports } from "cloudflare:workers";
import type { UploadLink } from "#shared/api/upload-links.ts";
import { basic, send } from "./jobs.ts";

export const PAGE = "https://app.example.com";
/** The smallest part. */
export const PART = 5 * 2 ** 20;

export async function newLink(key: string, changes: object = {}): Promise<UploadLink> {
  const body = { max_size: 100e6, origins: [PAGE], ...changes };
  const created = await send("/v2/upload-links", { method: "POST", body, headers: basic(key) });
  if (created.status !== 201) throw new Error(JSON.stringify(created.body));
  return created.body;
}

export const linkNow = async (key: string, { id }: Pick<UploadLink, "id">): Promise<UploadLink> =>
  (await send(`/v2/upload-links/${id}`, { headers: basic(key) })).body;

type Asked = { method?: string; headers?: Record<string, string>; body?: string | ReadableStream; json?: unknown };

/** A request at a link's URL, from the page. */
export async function ask(url: string, { method = "GET", headers = {}, body, json }: Asked = {}) {
  const sent = json === undefined ? body : JSON.stringify(json);
  const request = new Request(url, {
    method,
    headers: { origin: PAGE, ...headers },
    ...(sent === undefined ? {} : { body: sent }),
  });
  const response = await exports.default.fetch(request);
  const text = await response.text();
  const answer = JSON.parse(text.startsWith("{") ? text : "{}");
  return { status: response.status, headers: response.headers, body: answer };
}

/** A request of a tus client. */
export const tus = (url: string, method: string, headers: Record<string, string> = {}, body?: string) =>
  ask(url, {
    method,
    headers: {
      "tus-resumable": "1.0.0",
      ...(body === undefined ? {} : { "content-type": "application/offset+octet-stream" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });

export const storedText = async (uploadId: string | undefined): Promise<string | undefined> =>
  await (await env.STORAGE?.get(`uploads/${uploadId}`))?.text();
