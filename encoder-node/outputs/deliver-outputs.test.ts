// Uploads and reports of outputs, with a storage on loopback.
import { writeFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import type { OutputReport } from "#shared/protocol/reports.ts";
import type { UploadsRequest } from "#shared/protocol/uploads.ts";
import { fileFolder, startServer, untilEnd } from "../../test/fixtures.ts";
import { startTestNode, type TestNode } from "../testing/task-deps.ts";
import type { TaskDeps } from "../workspace/task-deps.ts";
import { openDelivery } from "./deliver-outputs.ts";

const folder = fileFolder();
let node: TestNode;
let respond: RequestListener;
/** Paths of stored objects, in order. */
let stored: string[];
const server = untilEnd(
  await startServer((request, response) => void request.resume().on("end", () => respond(request, response))),
);
beforeAll(async () => {
  node = startTestNode(folder);
});
afterAll(async () => {
  await node.close();
});
afterEach(() => {
  vi.restoreAllMocks();
});

const TASK = { kind: "inspect", sourceUrl: "http://127.0.0.1/", chunking: null };
function depsOf(report: TaskDeps["report"]) {
  stored = [];
  respond = ({ url = "" }, response) => {
    stored.push(url);
    response.end();
  };
  const { port } = server;
  const ticket = ({ output, file, sizeBytes }: UploadsRequest["files"][number]) => ({
    output,
    file,
    parts: [{ url: `http://127.0.0.1:${port}/${output}`, headers: {}, offset: 0, sizeBytes }],
  });
  return node.depsOf("AAAAAAAAAAAAAA.encode.1", TASK, {
    report,
    requestUploads: async (files) => ({ uploads: files.map(ticket) }),
  });
}

async function encodedOutput(output: number, sizeBytes = 10) {
  const path = join(folder, `${output}.bin`);
  await writeFile(path, Buffer.alloc(sizeBytes));
  return { output, files: [{ path, sizeBytes }], probe: null };
}
const failure = { code: "encoding_failed", message: "no" } as const;
const outputsOf = (reports: readonly OutputReport[]): number[] => reports.map(({ output }) => output);

it("reports each output as soon as it is stored, small files first, and leaves the final output to the task", async () => {
  const reported: number[] = [];
  const deps = depsOf(async (reports) => reported.push(...outputsOf(reports)) > 0);
  const delivery = openDelivery(4, deps);
  delivery.add([await encodedOutput(1, 3_000_000), { output: 3, failure }, await encodedOutput(0)]);
  await vi.waitFor(() => expect(reported.toSorted()).toEqual([0, 1, 3]));
  expect(stored).toEqual(["/0", "/1"]);
  // No upload progress is reported while other outputs are encoded.
  expect(deps.reported).toEqual([]);
  delivery.add([await encodedOutput(2)]);
  expect(await delivery.finish()).toMatchObject([{ status: "made", output: 2 }]);
  expect(deps.reported.at(-1)).toEqual({ stage: "uploading", fraction: 1 });
});

it("reports what keeps players from the stored playlists of an output", async () => {
  const deps = depsOf(async () => false);
  const playlists = [{ output: 0, format: "hls" as const, url: `${server.origin}/playlist` }];
  const delivery = openDelivery(1, { ...deps, assignment: { ...deps.assignment, playlists } });
  delivery.add([await encodedOutput(0)]);
  expect(await delivery.finish()).toMatchObject([{ status: "made", note: expect.stringContaining("lacks CORS") }]);
  expect(stored).toEqual(["/0", "/playlist"]);
});

it("leaves outputs to the task's report when the control plane does not accept their own report", async () => {
  const delivery = openDelivery(
    3,
    depsOf(async () => false),
  );
  delivery.add([await encodedOutput(0), await encodedOutput(1), { output: 2, failure }]);
  expect(outputsOf(await delivery.finish()).toSorted()).toEqual([0, 1, 2]);
});

it("fails all outputs when the storage rejects them, and names the storage's error code", async () => {
  const deps = depsOf(async () => false);
  let requests = 0;
  respond = (_, response) => {
    requests += 1;
    response.writeHead(403).end("<Error><Code>AccessDenied</Code></Error>");
  };
  const delivery = openDelivery(2, deps);
  delivery.add([await encodedOutput(0), await encodedOutput(1)]);
  const denied = { status: "failed", failure: { code: "storage_denied" } };
  expect(await delivery.finish()).toMatchObject([denied, denied]);
  // Twice each: the first signature may have expired.
  expect(requests).toBe(4);
});

it("stops uploads when the work is aborted", async () => {
  const abort = new AbortController();
  const deps = { ...depsOf(async () => true), signal: abort.signal };
  respond = () => undefined;
  const delivery = openDelivery(2, deps);
  delivery.add([await encodedOutput(0)]);
  const finished = delivery.finish();
  setTimeout(() => abort.abort(new Error("cancelled")), 50);
  await expect(finished).rejects.toThrow("cancelled");
  await delivery.stop();
});

it("stores and reports nothing before the source is verified", async () => {
  const verified = Promise.withResolvers<void>();
  const reported: number[] = [];
  const deps = depsOf(async (reports) => reported.push(...outputsOf(reports)) > 0);
  const delivery = openDelivery(3, deps, verified.promise);
  delivery.add([await encodedOutput(0), { output: 1, failure }]);
  // By now, an output of a verified source would be stored: a later output is.
  const later = openDelivery(1, deps);
  later.add([await encodedOutput(2)]);
  await later.finish();
  expect([stored, reported]).toEqual([["/2"], []]);
  verified.resolve();
  await vi.waitFor(() => expect(reported.toSorted()).toEqual([0, 1]));
  expect(stored).toEqual(["/2", "/0"]);
  await delivery.stop();
});

it("stores and reports nothing of a source that changed during the encode", async () => {
  const report = vi.fn(async () => true);
  const changed = new Error("The source has changed");
  const verified = Promise.reject<void>(changed);
  verified.catch(() => "handled by the caller");
  const delivery = openDelivery(2, depsOf(report), verified);
  delivery.add([await encodedOutput(0), { output: 1, failure }]);
  await expect(delivery.finish()).rejects.toBe(changed);
  expect([stored, report.mock.calls]).toEqual([[], []]);
});
