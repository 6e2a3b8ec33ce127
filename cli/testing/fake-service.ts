// Fake service with prepared responses, for cases that a real service does not produce on demand.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export type Request = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
};
/** A response body, or a function that responds by itself. */
export type Answer =
  | { readonly status?: number; readonly json: unknown }
  | ((request: Request, response: ServerResponse) => void);

export type FakeService = { readonly url: string; readonly requests: readonly Request[]; close(): Promise<void> };

/** Responds to a request such as `GET /v2/jobs` (without query) with the entry of this name; 404 without an entry. */
export async function startFakeService(answers: Readonly<Record<string, Answer>>, port = 0): Promise<FakeService> {
  const requests: Request[] = [];
  const server = createServer(async (incoming, response) => {
    const { method = "GET", url = "/", headers } = incoming;
    const request = { method, path: url, headers, body: await text(incoming).catch(() => "") };
    requests.push(request);
    const answer = answers[`${method} ${new URL(url, "http://service").pathname}`] ?? NOT_FOUND;
    if (typeof answer === "function") return answer(request, response);
    const { status = 200, json } = answer;
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json));
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export const failure = (status: number, code: string, message = "The reason"): Answer => ({
  status,
  json: { message, error_code: code, status: "error" },
});
const NOT_FOUND = failure(404, "job_not_found", "The account has no job with this id");
