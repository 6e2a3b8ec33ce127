// A slow source that breaks off while it is encoded.
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { specOf } from "#shared/testing/output-specs.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { withoutSandbox } from "../../ffmpeg/sandbox/isolation.ts";
import { closeServers, noise, sendRange, serve } from "../../testing/range-server.ts";
import { startTestNode, type TestNode } from "../../testing/task-deps.ts";
import { withEncodeSource } from "./encode-source.ts";

const CLIP = noise(3_000_000);
const folder = fileFolder();
let node: TestNode;
// The work reads what the node serves.
beforeAll(withoutSandbox);
beforeAll(() => {
  node = startTestNode(folder);
});
afterAll(async () => {
  closeServers();
  await node.close();
});

it("fetches the rest of a slow source after it could not be read while it is encoded", async () => {
  let isBroken = true;
  let isReading = false;
  const { origin, seen } = await serve(async (request, response) => {
    const { range } = request.headers;
    const isPart = range !== undefined && range !== "bytes=0-0";
    // The encode starts when bytes of a part have arrived.
    if (isPart && !isReading) return sendRange(CLIP, request, response, { dropAfter: 1000 });
    if (isPart && isBroken) return void response.writeHead(404).end();
    if (range) return sendRange(CLIP, request, response);
    response.writeHead(200, { etag: '"v1"', "accept-ranges": "bytes", "content-length": CLIP.length });
    for (let at = 0; at < CLIP.length && !response.destroyed; at += 10_000) {
      response.write(CLIP.subarray(at, at + 10_000));
      await sleep(20);
    }
    response.end();
  });
  const task: TaskOf<"encode"> = {
    kind: "encode",
    sourceUrl: `${origin}/clip.mp4`,
    probe: {
      streams: [
        {
          index: 0,
          codec_type: "video",
          codec_name: "h264",
          width: 320,
          height: 180,
          r_frame_rate: "25/1",
          packets: { first: 0, from: 0, last: 10, end: 10 },
        },
      ],
      format: { format_name: "mov,mp4,m4a,3gp,3g2,mj2", size: String(CLIP.length), duration: "10" },
    },
    outputs: [specOf({ format: "mp4:240p" }, 0)],
  };
  const deps = node.depsOf("AAAAAAAAAAAAAA.encode.1", task, {});
  const read: (boolean | "ranges")[] = [];
  await withEncodeSource(task, deps, async ({ source, loopbackOptions }, { signal }) => {
    if (!loopbackOptions) return void read.push(CLIP.equals(await readFile(source)));
    read.push("ranges");
    isReading = true;
    await fetch(source, { signal })
      .then((response) => response.arrayBuffer())
      .finally(() => {
        isBroken = false;
      });
  });
  expect(read).toEqual(["ranges", true]);
  // The bytes that have arrived are not requested again.
  expect(seen.filter(({ headers }) => headers.range === undefined)).toHaveLength(1);
});
