// A video over several nodes equals a single node's result, whichever process dies meanwhile, and nothing is left
// behind.
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { AwsClient } from "aws4fetch";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod";
import { CommandList } from "#shared/api/command-responses.ts";
import { TaskChanges, TaskList } from "#shared/api/task-responses.ts";
import { UltrafastView } from "#shared/job/job-view.ts";
import { UltrafastReceipt } from "#shared/job/metadata.ts";
import { locateFfmpeg } from "../encoder-node/ffmpeg/discover/locate.ts";
import { toolEnvironment } from "../encoder-node/ffmpeg/sandbox/tool-environment.ts";
import { SCRATCH_BUCKET } from "../local/home/constants.ts";
import { fileFolder, untilEnd } from "./fixtures.ts";
import { makeClip, makeLongClip } from "./media.ts";
import { startSourceServer } from "./services/source-server.ts";
import { startTestStack, type TestStack } from "./stack.ts";
import { readPackage } from "./streams/stream-package.ts";

const POSITIVE = expect.toSatisfy((value: unknown) => typeof value === "number" && value > 0);
const SECONDS = 80;
const RATE = 12;

const folder = fileFolder();
let stack: TestStack;
const sources = untilEnd(await startSourceServer(folder));

beforeAll(async () => {
  stack = await startTestStack({ nodes: 3 });
});
afterAll(async () => {
  await stack?.stop();
});

const run = promisify(execFile);
const options = { env: toolEnvironment(), maxBuffer: 64 * 1024 * 1024 };

/** A video with cues at the places where it is split. */
async function makeTextClip(): Promise<string> {
  const { ffmpeg } = await locateFfmpeg(process.env);
  const [clip, text, output] = [await makeLongClip(folder, SECONDS, "320x180", RATE), "text.srt", "text.mp4"];
  const cues = [10, 23, 35, 47, 59].map((at) => `${at}\n00:00:${at},000 --> 00:00:${at + 3},500\nCue ${at}\n`);
  writeFileSync(join(folder, text), cues.join("\n"));
  const streams = ["-map", "0", "-map", "1", "-c", "copy", "-c:s", "mov_text", "-metadata:s:s:0", "language=eng"];
  await run(ffmpeg.path, ["-v", "error", "-i", clip, "-i", text, ...streams, output], { ...options, cwd: folder });
  return join(folder, output);
}

type Compared = { frameTimes: number[]; audioPackets: string[]; text: string };

/** The data that must be equal: the time of each frame, the audio packets, and the text. */
async function tracksOf(url: string): Promise<Compared> {
  const { ffmpeg, ffprobe } = await locateFfmpeg(process.env);
  const file = join(folder, "result.mp4");
  await run(ffmpeg.path, ["-v", "error", "-y", "-i", url, "-map", "0", "-c", "copy", file], options);
  const times = ["-select_streams", "v:0", "-show_entries", "packet=pts_time", "-of", "csv=p=0"];
  const video = await run(ffprobe.path, ["-v", "error", ...times, file], options);
  const audio = await run(
    ffmpeg.path,
    ["-v", "error", "-i", file, "-map", "0:a", "-c", "copy", "-f", "framemd5", "-"],
    options,
  );
  const text = await run(ffmpeg.path, ["-v", "error", "-i", file, "-map", "0:s", "-f", "srt", "-"], options);
  // The whole file decodes without errors.
  const decoded = await run(ffmpeg.path, ["-v", "error", "-i", file, "-f", "null", "-"], options);
  expect(decoded.stderr).toBe("");
  const numbers = video.stdout.split("\n").filter((line) => line.trim() !== "");
  return {
    frameTimes: numbers.map(Number.parseFloat).toSorted((a, b) => a - b),
    audioPackets: audio.stdout.split("\n").filter((line) => line !== "" && !line.startsWith("#")),
    text: text.stdout,
  };
}

async function scratchObjects(): Promise<string[]> {
  const { endpoint, region, accessKeyId, secretAccessKey } = stack.s3;
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: "s3", retries: 0 });
  const answer = await client.fetch(`${endpoint}/${SCRATCH_BUCKET}`);
  return [...(await answer.text()).matchAll(/<Key>(.*?)<\/Key>/g)].map(([, name = ""]) => name);
}

const Asked = z.object({ ultrafast: UltrafastView.optional(), progress: z.string() });
const jobOf = async (id: string): Promise<z.infer<typeof Asked>> =>
  Asked.parse((await stack.request("GET", `/jobs/${id}`)).body);
const percentOf = async (id: string): Promise<number> =>
  jobOf(id).then(
    ({ progress }) => Number.parseInt(progress, 10),
    () => 0,
  );

const tasksOf = async (id: string): Promise<TaskList> =>
  TaskList.parse((await stack.request("GET", `/jobs/${id}/tasks`)).body);

/** Frame rates of nodes: follows a job until its control plane dies. */
async function followRates(id: string, rates: number[]): Promise<void> {
  const headers = { authorization: `Basic ${btoa(`${stack.apiKey}:`)}` };
  const { body } = await fetch(`${stack.api}/jobs/${id}/events`, { headers });
  let text = "";
  for await (const part of body ?? []) {
    text += new TextDecoder().decode(part);
    for (const [, data = ""] of text.matchAll(/^event: tasks\nid: \d+\ndata: (.*)\n/gm)) {
      const running = TaskChanges.parse(JSON.parse(data)).tasks.filter(({ status }) => status === "running");
      rates.push(...running.flatMap(({ fps }) => fps ?? []));
    }
    text = text.slice(text.lastIndexOf("\n\n") + 1);
  }
}

/** The process of a node that encodes a chunk. Nodes are named `local-1` and so on. */
async function pidOfEncodingNode(id: string): Promise<number> {
  const { tasks } = await tasksOf(id);
  const encoding = tasks.find(({ kind, status }) => kind === "chunk" && status === "running");
  const pid = stack.pids().nodes[Number(encoding?.node?.split("-")[1]) - 1];
  if (pid === undefined) throw new Error(`No node encodes a chunk: ${JSON.stringify(tasks)}`);
  return pid;
}

const outputs = (path: string): object => ({
  "mp4:320x180:96k": { path: `${path}/video.mp4`, loudness: -20, subtitles: [{ from: "en" }] },
  "webm:vp9_x90:x": { path: `${path}/silent.webm` },
  "jpg:160x": { path: `${path}/image-%02d.jpg`, number: 2 },
  httpstream: {
    path,
    hls: { path: "hls", segments: "fmp4" },
    dash: { path: "dash" },
    variants: ["mp4:x180_200k:96k", "mp4:vp9_x120_100k:96k", "mp4:x:opus_64k"],
    subtitles: "all",
    burn: { from: 1 },
  },
});

it("a video in chunks equals the video in one piece, although a node and the control plane are killed meanwhile", async () => {
  const input = { url: sources.urlOf(await makeTextClip()) };
  const whole = await stack.submit({ input, outputs: outputs("whole") });
  expect((await stack.waitForJob(whole.id)).status).toBe("job.completed");

  const { id } = await stack.submit({ input, outputs: outputs("chunked"), settings: { ultrafast: true } });
  const rates: number[] = [];
  const followed = followRates(id, rates).catch(() => undefined);
  await expect.poll(() => percentOf(id)).toBeGreaterThan(15);
  await expect.poll(() => rates).toContainEqual(POSITIVE);
  process.kill(await pidOfEncodingNode(id), "SIGKILL");
  await expect.poll(() => percentOf(id)).toBeGreaterThan(35);
  process.kill(stack.pids().controlPlane, "SIGKILL");
  await followed;
  const job = await stack.waitForJob(id);
  expect([job.status, ...job.outputs.map(({ status }) => status)]).toEqual([
    ...["job.completed", "video.encoded", "video.encoded", "image.created", "httpstream.packaged"],
  ]);
  expect((await jobOf(id)).ultrafast?.chunks).toBeGreaterThan(1);

  const [plain, chunked] = [await tracksOf(urlOf("whole")), await tracksOf(urlOf("chunked"))];
  expect(plain.frameTimes.length).toBe(SECONDS * RATE);
  expect(chunked).toEqual(plain);
  expect(chunked.text).toContain("00:00:23,000 --> 00:00:26,500\nCue 23\n");

  const streams = await Promise.all(["whole", "chunked"].map(segmentsOf));
  expect(streams[0]?.codecs.join()).toMatch(/avc1.*vp09.*opus/);
  expect(streams[1]).toEqual(streams[0]);

  const [before, after] = await Promise.all([loudnessOf(whole.id), loudnessOf(id)]);
  expect(after).toEqual(before);
  expect(after).toMatchObject([{ output: { integrated: expect.closeTo(-20, 0) } }]);

  const { body } = await stack.request("GET", `/metadata/jobs/${id}`);
  const { metadata } = z.object({ metadata: z.object({ ultrafast: UltrafastReceipt }) }).parse(body);
  const { ultrafast } = metadata;
  expect(ultrafast).toMatchObject({ frames_planned: SECONDS * RATE, frames_joined: SECONDS * RATE });
  expect(ultrafast.largest_error_us).toBeLessThan(100);
  await expectFacts(id, ultrafast.chunks.length);
  await expect.poll(scratchObjects).toEqual([]);
});

/** The codecs of a stream's variants, and the times of the segments of each track. */
async function segmentsOf(path: string): Promise<{ codecs: string[]; starts: number[][] }> {
  const read = await readPackage(`${stack.s3.endpoint}/${stack.s3.bucket}/${path}/hls/master.m3u8`);
  const starts = read.tracks.map(({ segments }) => segments.map(({ start }) => start));
  return { codecs: read.variants.map(({ codecs }) => codecs), starts };
}

async function loudnessOf(id: string): Promise<unknown> {
  const { body } = await stack.request("GET", `/metadata/jobs/${id}/mp4:320x180:96k`);
  const { metadata } = z
    .object({ metadata: z.record(z.string(), z.looseObject({ loudness: z.unknown() })) })
    .parse(body);
  return Object.values(metadata)[0]?.loudness;
}

/** Checks that the tasks show all chunks and the end of the killed node's work, and the commands all chunks' runs. */
async function expectFacts(id: string, chunkCount: number): Promise<void> {
  const { tasks, attempts } = await tasksOf(id);
  expect(tasks.filter(({ status }) => status !== "completed")).toEqual([]);
  const chunks = tasks.filter(({ kind }) => kind === "chunk");
  expect(chunks.map(({ chunk }) => chunk?.number)).toEqual(Array.from({ length: chunkCount }, (_, at) => at + 1));
  expect(chunks.at(-1)?.chunk?.to_seconds).toBeCloseTo(SECONDS, 1);
  for (const { fps, speed, node } of chunks)
    expect([fps, speed, node]).toEqual([POSITIVE, POSITIVE, expect.any(String)]);
  expect(attempts.map(({ outcome }) => outcome)).toContain("lost");
  // Several nodes have started chunks. The node that takes over the lost chunk may have encoded all others.
  const started = attempts.filter(({ task }) => chunks.some(({ id }) => id === task));
  expect(new Set(started.map(({ node }) => node)).size).toBeGreaterThan(1);

  const { commands, commands_dropped } = CommandList.parse((await stack.request("GET", `/jobs/${id}/commands`)).body);
  const ran = new Set(commands.map(({ task }) => task));
  expect([...ran]).toEqual(expect.arrayContaining(chunks.map((task) => task.id)));
  expect(commands_dropped).toBe(0);
  for (const { argv, exit_code } of commands) {
    expect(exit_code).toBe(0);
    expect(argv.join(" ")).not.toMatch(/https?:|\/(?:tmp|home|root|work|var)\//);
  }
}

const urlOf = (path: string): string => `${stack.s3.endpoint}/${stack.s3.bucket}/${path}/video.mp4`;

it("a video of less than a minute is encoded whole, and the job reports why", async () => {
  const clip = await makeClip("ntsc.mp4", folder);
  const job = { input: { url: sources.urlOf(clip) }, outputs: { "mp4:240p": { path: "short.mp4" } } };
  const { id } = await stack.submit({ ...job, settings: { ultrafast: true } });
  expect((await stack.waitForJob(id)).status).toBe("job.completed");
  expect((await jobOf(id)).ultrafast).toMatchObject({ chunks: 0, reason: expect.stringContaining("minute") });
  expect(await scratchObjects()).toEqual([]);
});
