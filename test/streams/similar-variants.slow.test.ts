// Streams that omit variants with similar bitrates, through the real system, encoded whole and in chunks. All playlists
// list the stored files, and nothing else.
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod";
import { DroppedVideo } from "#shared/job/dropped-video.ts";
import { SIMILAR_SHARE } from "#shared/plan/vmaf/similar-videos.ts";
import { locateFfmpeg } from "../../encoder-node/ffmpeg/discover/locate.ts";
import { fileFolder, untilEnd } from "../fixtures.ts";
import { makeLongClip } from "../media.ts";
import { startSourceServer } from "../services/source-server.ts";
import { startTestStack, type TestStack } from "../stack.ts";
import { listBucket } from "./stream-bucket.ts";
import { alignmentFaults, bandwidthFaults, fileFaults, lengthFaults } from "./stream-checks.ts";
import { readPackage } from "./stream-package.ts";

const CLOCK = { seconds: 70, frameSeconds: 1 / 12, codeAtStart: 0, audioFrom: 0 };
/** The second variant has nearly the size and the bits of the first. */
const [LARGE, NEAR, SMALL] = ["180p", "172p", "90p"];
const VARIANTS = ["320x", "304x", "160x"].map((size) => `mp4:${size}::quality=vmaf85`);

const folder = fileFolder();
let stack: TestStack;
const sources = untilEnd(await startSourceServer(folder));
let tools: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  tools = await toolsWithVmaf();
  Object.assign(process.env, tools);
  stack = await startTestStack({ nodes: 2 });
});
afterAll(async () => {
  for (const name of Object.keys(tools)) delete process.env[name];
  await stack?.stop();
});

/** Tools of npm, unless the environment names others: tools of distributions lack libvmaf. */
async function toolsWithVmaf(): Promise<Readonly<Record<string, string>>> {
  if (process.env.FFMPEG_PATH !== undefined) return {};
  const { ffmpeg, ffprobe } = await locateFfmpeg({ ...process.env, PATH: "" });
  return { FFMPEG_PATH: ffmpeg.path, FFPROBE_PATH: ffprobe.path };
}

const Outputs = z.object({ outputs: z.tuple([z.object({ note: z.string().optional() })]) });
const Stream = z.object({
  quality: z.object({
    dropped: z.array(DroppedVideo).optional(),
    target: z.array(z.looseObject({ size: z.string(), chunk: z.number().optional() })),
  }),
});
const Metadata = z.object({
  metadata: z.object({
    outputs: z.tuple([z.object({ httpstream: Stream })]),
    ultrafast: z.object({ chunks: z.array(z.unknown()) }).optional(),
  }),
});

/** Encodes the clip, and returns the service's report about its stream. */
async function streamed(path: string, params: object, settings: object) {
  const clip = await makeLongClip(folder, CLOCK.seconds, "320x180", 12);
  const packages = { hls: { path: "ts" }, dash: { path: "fmp4", hlsfmp4: true } };
  const { id } = await stack.submit({
    input: { url: sources.urlOf(clip) },
    outputs: { httpstream: { path, ...packages, variants: VARIANTS, drop_similar_variants: true, ...params } },
    settings,
  });
  expect(await stack.waitForJob(id)).toMatchObject({ status: "job.completed" });
  const [{ note }] = Outputs.parse((await stack.request("GET", `/jobs/${id}`)).body).outputs;
  const { metadata } = Metadata.parse((await stack.request("GET", `/metadata/jobs/${id}`)).body);
  const { quality } = metadata.outputs[0].httpstream;
  return { note, ...quality, chunks: metadata.ultrafast?.chunks.length ?? 0 };
}

/** The videos of each package, which must be complete. The bucket has no other files. */
async function videosOf(path: string): Promise<string[][]> {
  const address = `${stack.s3.endpoint}/${stack.s3.bucket}/${path}`;
  const entries = ["ts/master.m3u8", "fmp4/master.m3u8", "fmp4/master.mpd"].map((file) => `${address}/${file}`);
  const packages = await Promise.all(entries.map(readPackage));
  const named = [...new Set(packages.flatMap(({ files }) => files))];
  expect((await listBucket(stack, path)).toSorted()).toEqual(named.toSorted());
  expect(await fileFaults(named, entries)).toEqual([]);
  for (const manifest of packages) {
    expect([alignmentFaults(manifest), lengthFaults(manifest, CLOCK)]).toEqual([[], []]);
    expect(await bandwidthFaults(manifest)).toEqual([]);
  }
  return packages.map(({ tracks }) =>
    tracks.filter(({ kind }) => kind === "video").map(({ id }) => /[^/]*?(\d+p)(?:\.m3u8)?$/.exec(id)?.[1] ?? id),
  );
}

it.each([
  ["in one piece", "whole", {}],
  ["in chunks", "chunked", { ultrafast: true }],
])("omits a similar variant from a stream that is encoded %s", async (_, path, settings) => {
  const { note, dropped, target, chunks } = await streamed(path, {}, settings);
  expect(dropped).toMatchObject([{ track: NEAR, width: 304, height: 172, above: { track: LARGE } }]);
  const [{ kbps, above } = { kbps: 0, above: { kbps: 0 } }] = dropped ?? [];
  expect(kbps).toBeGreaterThan(SIMILAR_SHARE * above.kbps);
  expect(note).toContain(`Without ${NEAR} (${kbps} kbit/s, ${LARGE} has ${above.kbps}).`);
  expect(await videosOf(path)).toEqual(Array(3).fill([LARGE, SMALL]));
  // Nodes searched all variants, in each chunk separately.
  expect(new Set(target.map(({ size }) => size))).toEqual(new Set(["320x180", "304x172", "160x90"]));
  expect(chunks).toBe(new Set(target.flatMap(({ chunk }) => chunk ?? [])).size);
  expect(chunks > 1).toBe(path === "chunked");
});

it("keeps all variants in a stream that is played while its chunks are encoded", async () => {
  const { note, dropped, chunks } = await streamed("live", { live_playlist: true }, { ultrafast: true });
  expect([note, dropped]).toEqual([undefined, undefined]);
  expect(chunks).toBeGreaterThan(1);
  expect(await videosOf("live")).toEqual(Array(3).fill([LARGE, NEAR, SMALL]));
});
