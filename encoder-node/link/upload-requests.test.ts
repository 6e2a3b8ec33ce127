import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { type JobId, leaseId } from "#shared/ids.ts";
import { ScratchRequest } from "#shared/protocol/scratch.ts";
import { silentLog } from "../testing/silent-log.ts";
import { controlPlaneAt } from "./control-plane.ts";
import { type LeaseClient, requestScratch, requestUploads } from "./upload-requests.ts";

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of cleanUp.splice(0)) await end();
});

/** An answer of the control plane: a status, or a body for the request. The last answer is repeated. */
type Answer = number | ((request: ScratchRequest) => unknown);
async function clientOf(
  ...answers: Answer[]
): Promise<{ client: LeaseClient; requests: ScratchRequest[]; abort: AbortController }> {
  const requests: ScratchRequest[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const parsed = ScratchRequest.parse({ puts: [], gets: [], ...JSON.parse(body) });
    requests.push(parsed);
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (typeof answer === "number") response.writeHead(answer).end('{"error_code":"e"}');
    else response.end(JSON.stringify(answer?.(parsed)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanUp.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const controlPlane = controlPlaneAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, "secret");
  const abort = new AbortController();
  const lease = leaseId("AAAAAAAAAAAAAA" as JobId, "join", 1);
  return { client: { controlPlane, lease, token: "t", signal: abort.signal, log: silentLog }, requests, abort };
}

const signed: Answer = ({ puts, gets }) => ({
  puts: puts.map(({ name, sizeBytes }) => ({ url: `http://s/${name}?put`, headers: {}, offset: 0, sizeBytes })),
  gets: gets.map((name) => `http://s/${name}?get`),
});
const QUICK = { firstMs: 1, maxMs: 1 };
const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `chunk-1/${at}.mp4`);

it("requests any number of scratch objects, 200 at a time, in order", async () => {
  const { client, requests } = await clientOf(503, signed);
  const puts = names(3).map((name) => ({ name, sizeBytes: 7 }));
  const answer = await requestScratch(client, puts, names(450));
  if ("failure" in answer) throw new Error(answer.failure.message);
  expect(answer.gets).toEqual(names(450).map((name) => `http://s/${name}?get`));
  expect(answer.puts.map(({ url }) => url)).toEqual(names(3).map((name) => `http://s/${name}?put`));
  expect(requests.slice(1).map(({ puts, gets }) => [puts.length, gets.length])).toEqual([
    [3, 200],
    [0, 200],
    [0, 50],
  ]);
});

it("retries while the client's storage is unreachable, 25 requests at most", async () => {
  const failure = { code: "storage_unreachable", message: "SlowDown" };
  const file = { output: 0, file: 1, sizeBytes: 7 };
  const passing = await clientOf(
    () => ({ failure }),
    () => ({ uploads: [] }),
  );
  expect(await requestUploads(passing.client, [file], QUICK)).toEqual({ uploads: [] });
  const lasting = await clientOf(() => ({ failure }));
  expect(await requestUploads(lasting.client, [file], QUICK)).toEqual({ failure });
  expect(lasting.requests.length).toBe(25);
});

it("returns the failure when the control plane signs nothing", async () => {
  const failure = { code: "storage_denied", message: "no" };
  const { client } = await clientOf(signed, () => ({ failure }));
  expect(await requestScratch(client, [], names(300))).toEqual({ failure });
});

it.each<[string, Answer, string]>([
  ["is superseded", 409, "lease_superseded"],
  ["is rejected", 400, "node_failed"],
  ["receives fewer URLs than requested", () => ({ puts: [], gets: [] }), "node_failed"],
])("throws when the request %s", async (_what, answer, code) => {
  const { client } = await clientOf(answer);
  await expect(requestScratch(client, [], names(1))).rejects.toMatchObject({ code });
});

it("upload requests stop when the work is aborted", async () => {
  const { client, abort } = await clientOf(503);
  const request = requestScratch(client, [], names(1));
  setTimeout(() => abort.abort(), 100);
  await expect(request).rejects.toThrow();
});
