// Nodes and control plane of neighboring releases do a video in chunks together: either may be updated first. Protocol
// frames of the previous release are tested elsewhere; this is the real one.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { ROOT } from "../../local/home/constants.ts";
import type { StackFile } from "../../local/home/stack-file.ts";
import { type FaultNode, startFaultNode } from "../faults/fault-node.ts";
import { look } from "../look.ts";
import { makeLongClip } from "../media.ts";
import { type SourceServer, startSourceServer } from "../services/source-server.ts";
import { clientOf, type SharedStack, startTestStack, type TestStack } from "../stack.ts";
import { type PreviousStack, reasonAgainst, startPrevious, unpackPrevious } from "./previous-release.ts";

const [SECONDS, RATE] = [80, 12];
/** Each test has two jobs, in chunks. */
const LIMIT_MS = 480_000;
const reason = reasonAgainst();

let folder: string;
let sources: SourceServer;
let previous: string;
let clip: string;
const nodes: FaultNode[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "copra-previous-"));
  sources = await startSourceServer(folder);
  clip = sources.urlOf(await makeLongClip(folder, SECONDS, "320x180", RATE));
  if (reason === null) previous = unpackPrevious(join(folder, "sources"));
});
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.end();
});
afterAll(async () => {
  await sources?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function connect(name: string, root: string, { api, nodeToken: token }: Pick<StackFile, "api" | "nodeToken">) {
  const node = startFaultNode({ name, root, url: new URL(api).origin, token, home: folder });
  nodes.push(node);
  await node.connected();
}

const Asked = z.object({ ultrafast: z.object({ chunks: z.number() }) });
const OUTPUTS = {
  "mp4:320x180": { path: "video.mp4" },
  "jpg:160x": { path: "image-%02d.jpg", number: 2 },
  httpstream: { path: "stream", hls: { path: "hls" }, variants: ["mp4:x180_200k:96k", "mp4:x120_100k:96k"] },
};

/** A job with all kinds of tasks completes; answers which nodes did any. */
async function complete(stack: SharedStack): Promise<string[]> {
  const { id } = await stack.submit({ input: { url: clip }, outputs: OUTPUTS, settings: { ultrafast: true } });
  const job = await stack.waitForJob(id);
  expect([job.status, ...job.outputs.map(({ status }) => status)]).toEqual([
    ...["job.completed", "video.encoded", "image.created", "httpstream.packaged"],
  ]);
  const { ultrafast } = Asked.parse((await stack.request("GET", `/jobs/${id}`)).body);
  expect(ultrafast.chunks).toBeGreaterThan(1);
  expect((await look(`${stack.s3.endpoint}/${stack.s3.bucket}/video.mp4`)).frames).toBe(SECONDS * RATE);
  const worked = nodes.filter((node) => node.lines().some(({ lease }) => String(lease).startsWith(id)));
  for (const node of nodes) expect(node.lines().filter(({ message }) => message === "Task failed")).toEqual([]);
  return worked.map(({ name }) => name);
}

describe.skipIf(reason !== null)(`the previous release${reason === null ? "" : ` (${reason})`}`, () => {
  let present: TestStack | null = null;
  let old: PreviousStack | null = null;
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.end();
    await present?.stop();
    await old?.stop();
    [present, old] = [null, null];
  });

  it(
    "its nodes work for this control plane, alone and beside a node of this release",
    async () => {
      present = await startTestStack({ nodes: 0 });
      for (const name of ["old-1", "old-2"]) await connect(name, previous, present);
      expect(await complete(present)).toEqual(["old-1", "old-2"]);
      await connect("new", ROOT, present);
      expect(await complete(present)).toContain("new");
    },
    LIMIT_MS,
  );

  it(
    "its control plane gives work to nodes of this release, alone and beside one of its own",
    async () => {
      const home = join(folder, "home");
      old = await startPrevious(previous, home);
      const { pids: _, ...description } = old.stack;
      const stack = clientOf({ description, home, webhookSecret: "" });
      for (const name of ["new-1", "new-2"]) await connect(name, ROOT, old.stack);
      expect(await complete(stack)).toEqual(["new-1", "new-2"]);
      await connect("old", previous, old.stack);
      expect(await complete(stack)).toContain("old");
    },
    LIMIT_MS,
  );
});
