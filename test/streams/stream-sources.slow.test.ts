// Streams of sources with traits of real sources, through the real system. The tests fetch and check every stored file.
import { afterAll, beforeAll, expect, it } from "vitest";
import { everyNth } from "../../encoder-node/testing/few.ts";
import { fileFolder, untilEnd } from "../fixtures.ts";
import { startSourceServer } from "../services/source-server.ts";
import { startTestStack, type TestStack } from "../stack.ts";
import { encodeBegan, listBucket, storedIn } from "./stream-bucket.ts";
import {
  alignmentFaults,
  bandwidthFaults,
  clockFaults,
  fileFaults,
  keyframeFaults,
  lengthFaults,
  segmentFaults,
} from "./stream-checks.ts";
import { makeStreamClip, STREAM_CLIPS, type StreamClip } from "./stream-clips.ts";
import { readPackage } from "./stream-package.ts";

const folder = fileFolder();
const sources = untilEnd(await startSourceServer(folder));
let stack: TestStack;
const jobs = new Map<StreamClip, string>();

const SEGMENT_SECONDS = 3;
const WHOLE = ["mp4:x144", "mp4:x:64k"];
const LADDER = ["mp4:x144", "mp4:x240", "mp4:x:64k"];

/** The options of each stream. */
const STREAMS = {
  "video.mp4": { variants: ["mp4:240p", "mp4:360p", "mp4:480p", "mp4:x:64k"], segment_duration: 6, thumbnails: true },
  "cinema.mkv": { variants: [...LADDER, "mp4:hevc_x144"] },
  "uneven.mkv": { variants: LADDER },
  "still.mkv": { variants: WHOLE },
  "slides.mkv": { variants: WHOLE },
  "broadcast.ts": { variants: LADDER },
  "portrait.mp4": { variants: WHOLE },
  "odd.mp4": { variants: ["mp4:x144", "mp4:x240"] },
  "audio.m4a": { variants: ["mp4:x:64k", "mp4:x:128k"] },
  "surround.mkv": { variants: WHOLE },
  "late-audio.mp4": { variants: WHOLE },
  "edited.mp4": { variants: WHOLE },
} satisfies Partial<Record<StreamClip, { variants: string[]; segment_duration?: number; thumbnails?: boolean }>>;
type Streamed = keyof typeof STREAMS;
const TRIED = everyNth(2, Object.keys(STREAMS) as Streamed[]);

const submit = async (clip: StreamClip, options: object): Promise<void> => {
  const source = await makeStreamClip(clip, folder);
  const packages = { hls: { path: "ts" }, dash: { path: "fmp4", hlsfmp4: true } };
  const httpstream = { path: clip, segment_duration: SEGMENT_SECONDS, ...packages, ...options };
  const { id } = await stack.submit({ input: { url: sources.urlOf(source) }, outputs: { httpstream } });
  jobs.set(clip, id);
};

beforeAll(async () => {
  stack = await startTestStack();
  // The first job runs alone, so that the log has its times.
  for (const clip of TRIED) {
    await submit(clip, STREAMS[clip]);
    if (clip === "video.mp4") await stack.waitForJob(jobs.get(clip) ?? "");
  }
  await submit("truncated.mp4", { variants: WHOLE });
  // This hook makes all clips, which takes minutes on a busy machine.
});
afterAll(async () => {
  await stack?.stop();
});

const addressOf = (path: string): string => `${stack.s3.endpoint}/${stack.s3.bucket}/${path}`;
const entriesOf = (clip: StreamClip): string[] =>
  ["ts/master.m3u8", "fmp4/master.m3u8", "fmp4/master.mpd"].map((file) => addressOf(`${clip}/${file}`));

it("nodes store segments during the encode, and the entry files last", () => {
  const stored = storedIn(stack, "video.mp4");
  const names = stored.map(({ path }) => path.split("/video.mp4/")[1] ?? "");
  const firstEntry = names.findIndex((name) => name.split("/").length === 2);
  expect(names.slice(firstEntry).toSorted()).toEqual([
    "fmp4/master.m3u8",
    "fmp4/master.mpd",
    "fmp4/master.vtt",
    "ts/master.m3u8",
    "ts/master.vtt",
  ]);
  const began = encodeBegan(stack).getTime();
  const after = (at: Date | undefined): number => (at?.getTime() ?? Number.NaN) - began;
  expect(after(stored[0]?.at)).toBeLessThan(after(stored.at(-1)?.at) * 0.7);
});

it("the bucket holds the files that the entry files reference, and nothing else", async () => {
  const packages = await Promise.all(entriesOf("video.mp4").map(readPackage));
  const named = new Set(packages.flatMap(({ files }) => files));
  const cues = ["ts/master.vtt", "fmp4/master.vtt"].map((file) => addressOf(`video.mp4/${file}`));
  for (const vtt of cues) {
    const text = await (await fetch(vtt)).text();
    for (const [, sheet = ""] of text.matchAll(/\n(\S+\.jpg)#xywh=/g)) named.add(new URL(sheet, vtt).href);
    named.add(vtt);
  }
  expect((await listBucket(stack, "video.mp4")).toSorted()).toEqual([...named].toSorted());
  expect(await fileFaults([...named], [...entriesOf("video.mp4"), ...cues])).toEqual([]);
});

it.each(TRIED)("%s: every segment is valid, in sync and as long as the source", async (clip) => {
  const job = await stack.waitForJob(jobs.get(clip) ?? "");
  expect(job).toMatchObject({ status: "job.completed" });
  const clock = { codeAtStart: 0, audioFrom: 0, ...STREAM_CLIPS[clip] };
  const [ts, fmp4, dash] = await Promise.all(entriesOf(clip).map(readPackage));
  if (!ts || !fmp4 || !dash) throw new Error("unreachable");
  for (const stream of [ts, fmp4]) {
    for (const track of stream.tracks) {
      expect(await segmentFaults(track)).toEqual([]);
      expect(await clockFaults(track, clock)).toEqual([]);
      expect(await keyframeFaults(track)).toEqual([]);
      expect(track.keyframes.length > 0).toBe(track.kind === "video");
    }
  }
  const videos = STREAMS[clip].variants.filter((format) => !format.startsWith("mp4:x:"));
  const counts = [ts, fmp4, dash].map(({ tracks }) => tracks.filter(({ kind }) => kind === "video").length);
  // MPEG-TS packages omit HEVC.
  const inTs = videos.filter((format) => !format.includes("hevc")).length;
  expect(counts).toEqual([inTs, videos.length, videos.length]);
  for (const stream of [ts, fmp4, dash]) {
    expect(alignmentFaults(stream)).toEqual([]);
    expect(lengthFaults(stream, clock)).toEqual([]);
    expect(await bandwidthFaults(stream)).toEqual([]);
  }
});

it("a truncated source fails with an error message, and no entry file is stored", async () => {
  const job = await stack.waitForJob(jobs.get("truncated.mp4") ?? "");
  expect(job.outputs).toMatchObject([{ status: "httpstream.failed", error: expect.stringMatching(/\w+ .*\./) }]);
  const answers = await Promise.all(entriesOf("truncated.mp4").map((url) => fetch(url)));
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
});
