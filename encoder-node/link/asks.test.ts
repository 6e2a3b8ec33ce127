import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { type JobId, leaseId } from "#shared/ids.ts";
import { ScratchRequest } from "#shared/protocol/protocol.ts";
import { askScratch, askUploads, type Line } from "./asks.ts";
import { controlPlaneAt } from "./control-plane.ts";

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of cleanUp.splice(0)) await end();
});

/** A control plane that answers these in turn, the last for ever: a status, or a body by the request. */
type Answer = number | ((asked: ScratchRequest) => unknown);
async function lineTo(...answers: Answer[]): Promise<{ line: Line; asked: ScratchRequest[]; abort: AbortController }> {
  const asked: ScratchRequest[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const wish = ScratchRequest.parse({ puts: [], gets: [], ...JSON.parse(body) });
    asked.push(wish);
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (typeof answer === "number") response.writeHead(answer).end('{"error_code":"e"}');
    else response.end(JSON.stringify(answer?.(wish)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanUp.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const controlPlane = controlPlaneAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, "secret");
  const abort = new AbortController();
  const lease = leaseId("AAAAAAAAAAAAAA" as JobId, "join", 1);
  return { line: { controlPlane, lease, token: "t", signal: abort.signal }, asked, abort };
}

const signed: Answer = ({ puts, gets }) => ({
  puts: puts.map(({ name, sizeBytes }) => ({ url: `http://s/${name}?put`, headers: {}, offset: 0, sizeBytes })),
  gets: gets.map((name) => `http://s/${name}?get`),
});
const QUICK = { firstMs: 1, maxMs: 1 };
const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `chunk-1/${at}.mp4`);

it("asks for any number of scratch objects, 200 at a time, in order", async () => {
  const { line, asked } = await lineTo(503, signed);
  const puts = names(3).map((name) => ({ name, sizeBytes: 7 }));
  const answer = await askScratch(line, puts, names(450));
  if ("failure" in answer) throw new Error(answer.failure.message);
  expect(answer.gets).toEqual(names(450).map((name) => `http://s/${name}?get`));
  expect(answer.puts.map(({ url }) => url)).toEqual(names(3).map((name) => `http://s/${name}?put`));
  expect(asked.slice(1).map(({ puts, gets }) => [puts.length, gets.length])).toEqual([
    [3, 200],
    [0, 200],
    [0, 50],
  ]);
});

it("asks again while the storage of the client cannot be reached, 25 times at most", async () => {
  const failure = { code: "storage_unreachable", message: "SlowDown" };
  const file = { output: 0, file: 1, sizeBytes: 7 };
  const passing = await lineTo(
    () => ({ failure }),
    () => ({ uploads: [] }),
  );
  expect(await askUploads(passing.line, [file], QUICK)).toEqual({ uploads: [] });
  const lasting = await lineTo(() => ({ failure }));
  expect(await askUploads(lasting.line, [file], QUICK)).toEqual({ failure });
  expect(lasting.asked.length).toBe(25);
});

it("hands on why nothing is signed", async () => {
  const failure = { code: "storage_denied", message: "no" };
  const { line } = await lineTo(signed, () => ({ failure }));
  expect(await askScratch(line, [], names(300))).toEqual({ failure });
});

it.each<[string, Answer, string]>([
  ["is gone", 409, "lease_superseded"],
  ["is refused", 400, "node_failed"],
  ["gets less than it asked for", () => ({ puts: [], gets: [] }), "node_failed"],
])("ends when its lease %s", async (_what, answer, code) => {
  const { line } = await lineTo(answer);
  await expect(askScratch(line, [], names(1))).rejects.toMatchObject({ code });
});

it("waits no longer than the work is wanted", async () => {
  const { line, abort } = await lineTo(503);
  const asking = askScratch(line, [], names(1));
  setTimeout(() => abort.abort(), 100);
  await expect(asking).rejects.toThrow();
});
