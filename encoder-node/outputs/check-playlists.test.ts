// Reads playlists from a real server on loopback.
import type { RequestListener } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { OutputReport } from "#shared/protocol/reports.ts";
import { fileFolder, startServer, untilEnd } from "../../test/fixtures.ts";
import { startTestNode, type TestNode } from "../testing/task-deps.ts";
import type { TaskDeps } from "../workspace/task-deps.ts";
import { withPlaylistNote } from "./check-playlists.ts";

let origins: (string | undefined)[];
beforeEach(() => {
  origins = [];
});
const CORS = { "access-control-allow-origin": "*" };
const HLS = { "content-type": "application/vnd.apple.mpegurl" };
const PATHS: Record<string, [status: number, headers: Record<string, string>]> = {
  "/good": [200, { ...CORS, "content-type": "Application/x-mpegURL; charset=utf-8" }],
  "/null": [200, { ...HLS, "access-control-allow-origin": "null" }],
  "/manifest": [200, { ...CORS, "content-type": "application/dash+xml" }],
  "/closed": [200, HLS],
  "/one-site": [200, { ...HLS, "access-control-allow-origin": "https://example.com" }],
  "/missing": [404, { ...CORS, ...HLS }],
  "/text": [200, { ...CORS, "content-type": "text/plain" }],
  "/untyped": [200, CORS],
  "/moved": [302, { location: "/good" }],
  "/moved-away": [301, { location: "/missing" }],
  "/moved-inside": [302, { location: "http://10.0.0.1/" }],
  "/loop": [302, { location: "/loop" }],
};
const respond: RequestListener = ({ url = "", headers }, response) => {
  origins.push(headers.origin);
  const [status, sent] = PATHS[url] ?? [0, {}];
  if (url === "/slow") return;
  if (url === "/reset") return void response.destroy();
  response.writeHead(status, sent).end("#EXTM3U\n");
};
const server = untilEnd(await startServer(respond));
let node: TestNode;
beforeAll(() => {
  node = startTestNode(fileFolder());
});
afterAll(() => node.close());

const TASK = { kind: "inspect", sourceUrl: "http://127.0.0.1/", chunking: null };
const MADE: OutputReport = { status: "made", output: 2, files: [], probe: null };
async function noteOf(
  url: string,
  { format = "hls", note, ...changes }: Partial<TaskDeps> & { format?: "hls" | "dash"; note?: string } = {},
) {
  const deps = node.depsOf("AAAAAAAAAAAAAA.encode.1", TASK, changes);
  const other = { output: 1, format, url: `${server.origin}/missing` };
  const playlists = [other, { ...other, output: 2, url }];
  const report = await withPlaylistNote(
    { ...MADE, ...(note === undefined ? {} : { note }) },
    { ...deps, assignment: { ...deps.assignment, playlists } },
  );
  return report.status === "made" ? report.note : null;
}

const CLOSED = "Players on websites cannot read its HLS playlist: the storage lacks CORS for all origins.";
const UNTYPED =
  "Some players refuse its HLS playlist: the storage sends it without the content type application/vnd.apple.mpegurl.";
const MISSING = "Players cannot read its HLS playlist: the public URL responds with 404.";

it.each<[path: string, note: string | undefined]>([
  ["/good", undefined],
  ["/null", undefined],
  ["/closed", CLOSED],
  ["/one-site", CLOSED],
  ["/missing", MISSING],
  ["/text", UNTYPED],
  ["/untyped", UNTYPED],
  ["/moved", undefined],
  ["/moved-away", MISSING],
  ["/moved-inside", undefined],
  ["/loop", undefined],
  ["/reset", undefined],
])("notes what keeps players from a playlist: %s", async (path, note) => {
  expect(await noteOf(server.origin + path)).toBe(note);
  expect(new Set(origins)).toEqual(new Set(["null"]));
});

it("waits five seconds for a host that does not respond, and then adds no note", async () => {
  const startedMs = performance.now();
  expect(await noteOf(`${server.origin}/slow`)).toBeUndefined();
  expect(performance.now() - startedMs).toBeGreaterThan(4900);
});

it("sends no request to an address that the node does not allow", async () => {
  expect(await noteOf(`${server.origin}/closed`, { allowPrivate: "none" })).toBeUndefined();
  expect(origins).toEqual([]);
});

it("names the package, keeps the notes of the encode, and leaves out what a report cannot hold", async () => {
  expect(await noteOf(`${server.origin}/manifest`, { format: "dash" })).toBeUndefined();
  expect(await noteOf(`${server.origin}/good`, { format: "dash" })).toContain("its DASH manifest");
  expect(await noteOf(`${server.origin}/closed`, { note: "It was slow." })).toBe(`It was slow. ${CLOSED}`);
  expect(await noteOf(`${server.origin}/closed`, { note: "x".repeat(480) })).toBe("x".repeat(480));
});
