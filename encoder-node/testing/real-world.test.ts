// Sources as real use brings them, through inspection, plan, ffmpeg and checks; results are compared with the source's own frames.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { closeServers } from "../input/range-source-server.ts";
import { processSource } from "./process-source.ts";
import { constantRateVideo } from "./real-world-sources.ts";
import { openWorkshop } from "./source-workshop.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "copra-real-world-"));
});
afterAll(async () => {
  closeServers();
  await rm(folder, { recursive: true, force: true });
});

it("makes all kinds of outputs of an intact source", async () => {
  const path = await constantRateVideo(openWorkshop(folder));
  const stream = { format: "httpstream", params: { hls: { path: "h" }, variants: ["mp4:64x:48k"] } };
  const { outputs } = await processSource(path, [{ format: "mp4" }, { format: "jpg:64x" }, stream]);
  expect(outputs).toEqual([1, 1, 1].map(() => ({ ok: true, files: [expect.any(String)] })));
});
