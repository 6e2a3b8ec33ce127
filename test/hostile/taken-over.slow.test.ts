// A compromised ffmpeg in each kind of task. It cannot read, write or expose anything outside its folder, and the node
// does its next job.
import { createHash } from "node:crypto";
import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { AppError } from "#shared/errors.ts";
import { type OutputOptions, specOf } from "#shared/testing/output-specs.ts";
import { findIsolation, withoutSandbox } from "../../encoder-node/ffmpeg/sandbox/isolation.ts";
import { TOOL_FOLDERS_VARIABLE } from "../../encoder-node/ffmpeg/sandbox/sandbox-mounts.ts";
import { encodeAudio } from "../../encoder-node/tasks/audio.ts";
import { chunk } from "../../encoder-node/tasks/chunk/chunk.ts";
import { inspect } from "../../encoder-node/tasks/inspect/inspect.ts";
import {
  type ChunkTestBed,
  chunkTasks,
  encodeInChunks,
  encodeWhole,
  leaseOf,
  newJob,
  openChunkTestBed,
} from "../../encoder-node/testing/jobs/chunked-jobs.ts";
import { REFERENCE_FFMPEG } from "../../encoder-node/testing/plan-runs.ts";
import { tools } from "../../encoder-node/testing/task-deps.ts";
import { fileFolder } from "../fixtures.ts";
import { type Act, ALL_ACTS, type Target, takenOver } from "./taken-over.ts";

/** An ffmpeg with libvmaf, which the programs run. */
const ffmpeg = { ...tools.ffmpeg, path: REFERENCE_FFMPEG };
process.env[TOOL_FOLDERS_VARIABLE] = dirname(REFERENCE_FFMPEG);

const SECRET = "a secret of this machine";
const CLIP = "short.mp4";
/** Long enough for chunks. */
const LONG_CLIP = "ntsc.mp4";
let testBed: ChunkTestBed;
const outside = fileFolder();
let target: Target;

async function open(): Promise<void> {
  testBed = await openChunkTestBed([CLIP, LONG_CLIP]);
  target = { folder: testBed.folder, ffmpeg: REFERENCE_FFMPEG, prey: join(outside, "prey"), hasSandbox: true };
  await writeFile(join(testBed.folder, "subtitles.srt"), "1\n00:00:01,000 --> 00:00:02,500\nHello\n");
}
const close = () => testBed.close();
beforeEach(async () => {
  await writeFile(target.prey, SECRET);
  await chmod(target.prey, 0o600);
  await mkdir(join(outside, "folder"), { recursive: true });
  await writeFile(join(outside, "folder", "file"), SECRET);
});

/** The state of all files outside that a program or the node could have changed. */
async function traces(): Promise<unknown> {
  const files = ["prey", "folder/file"].map(async (name) => {
    const { mode, mtimeMs, uid } = await stat(join(outside, name));
    return {
      name,
      mode,
      mtimeMs,
      uid,
      hash: createHash("sha256")
        .update(await readFile(join(outside, name)))
        .digest("hex"),
    };
  });
  return { files: await Promise.all(files), names: (await readdir(outside, { recursive: true })).toSorted() };
}

let before: unknown;
beforeEach(async () => {
  before = await traces();
});
afterEach(async () => {
  expect(await traces()).toEqual(before);
  expect(await readdir(join(testBed.folder, "tasks")).catch(() => [])).toEqual([]);
  // Use the same node, and all its threads for files.
  const { result } = await encodeWhole(testBed, CLIP, [specOf({ format: "mp4:64x36", durationMs: 1000 }, 0)], {
    ffmpeg,
  });
  expect(result.outputs).toMatchObject([{ status: "made" }]);
});

const specs = (...outputs: OutputOptions[]) => outputs.map(specOf);
const QUICK = { durationMs: 3000 };
const STREAM = {
  format: "httpstream",
  measuresQuality: true,
  params: {
    hls: { path: "h" },
    dash: { path: "d" },
    variants: ["mp4:64x36", "mp4:96x54", "mp4:x"],
    segment_duration: 2,
  },
};

const UNMEASURED = { ...STREAM, measuresQuality: false };

/** Whatever the outcome of the work, no data of this machine is stored. */
async function encoded(path: string, outputs: OutputOptions[]): Promise<void> {
  const { storage } = await encodeWhole(testBed, CLIP, specs(...outputs), { ffmpeg: { ...ffmpeg, path } });
  for (const body of storage.objects.values()) expect(body.includes(SECRET)).toBe(false);
}

const failsAsPlanned = async (work: Promise<unknown>): Promise<void> => {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error !== null) expect(error).toBeInstanceOf(AppError);
};

type Kind = { readonly when: string; readonly onlyInSandbox?: boolean; readonly run: (path: string) => Promise<void> };

const subtitles = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    url: `${testBed.origin}/subtitles.srt`,
    name: `text ${at}`,
    language: "en",
  }));

/** `when` selects the runs that are compromised. */
const KINDS: Readonly<Record<string, Kind>> = {
  "an inspection": {
    when: "",
    onlyInSandbox: true,
    async run(path) {
      const task = {
        kind: "inspect" as const,
        sourceUrl: `${testBed.origin}/${CLIP}`,
        chunking: { readOrigin: false },
      };
      const deps = { ...testBed.bucket, ffprobe: { ...tools.ffprobe, path } };
      await failsAsPlanned(inspect(task, testBed.node.depsOf(leaseOf(newJob(), "inspect"), task, deps)));
    },
  },
  "an encode of videos": {
    when: "",
    run: (path) =>
      encoded(path, [
        { format: "mp4:64x36", ...QUICK },
        { format: "mkv:64x36", ...QUICK },
        { format: "mp3", ...QUICK },
      ]),
  },
  "an encode of a video that grows": { when: "", run: (path) => encoded(path, [{ format: "mp4:96x54" }]) },
  "an encode of images": {
    when: "",
    run: (path) =>
      encoded(path, [
        { format: "jpg:32x", params: { number: 3 } },
        { format: "jpg:32x", params: { interval: 10, sprite: true, vtt: true } },
      ]),
  },
  "an encode of streams": { when: "", run: (path) => encoded(path, [STREAM]) },
  "subtitles of a stream": {
    when: "webvtt",
    run: (path) => encoded(path, [{ ...UNMEASURED, params: { ...STREAM.params, subtitles: subtitles(3) } }]),
  },
  "a measurement of quality": {
    when: "libvmaf",
    run: (path) => encoded(path, [{ format: "mp4:64x36::quality=1", measuresQuality: true, ...QUICK }]),
  },
  "a search for a quality": {
    when: "",
    run: (path) => encoded(path, [{ format: "mp4:64x36::quality=vmaf80", ...QUICK }]),
  },
  "a chunk": {
    when: "",
    async run(path) {
      const { job, chunks } = await chunkTasks(
        testBed,
        LONG_CLIP,
        specs({ format: "mp4:64x36", measuresQuality: true }),
      );
      const [task] = chunks;
      if (!task) throw new Error("No chunks");
      const deps = { ...testBed.bucket, ffmpeg: { ...ffmpeg, path } };
      await failsAsPlanned(chunk(task, testBed.node.depsOf(leaseOf(job, "chunk-0"), task, deps)));
    },
  },
  "the audio of a chunked job": {
    when: "",
    async run(path) {
      const { job, ranged } = await chunkTasks(testBed, LONG_CLIP, specs({ format: "mp4:64x36" }, UNMEASURED));
      const task = { kind: "audio" as const, ...ranged };
      const deps = { ...testBed.bucket, ffmpeg: { ...ffmpeg, path } };
      await failsAsPlanned(encodeAudio(task, testBed.node.depsOf(leaseOf(job, "audio"), task, deps)));
    },
  },
  "a join": {
    when: "",
    async run(path) {
      const joined = encodeInChunks(testBed, LONG_CLIP, specs({ format: "mp4:64x36" }, UNMEASURED), (storage) => ({
        ...storage,
        ffmpeg: { ...ffmpeg, path },
      }));
      const { storage } = await joined;
      for (const body of storage.objects.values()) expect(body.includes(SECRET)).toBe(false);
    },
  },
};

/**
 * Streams try all acts, because the node reads their files while they grow. All kinds try links. The soak tries all
 * acts.
 */
const isTried = (kind: string, act: Act, acts: readonly Act[]): boolean =>
  process.env.COPRA_SOAK === "1" || kind === "an encode of streams" || acts.includes(act);
const casesOf = (acts: readonly Act[]) =>
  Object.entries(KINDS).flatMap(([name, kind]) =>
    ALL_ACTS.filter((act) => isTried(name, act, acts)).map((act) => [name, act, kind] as const),
  );
const LINKS_AND_PIPES = ["leaves links", "leaves pipes"] as const;

const { sandbox } = await findIsolation();
describe.skipIf(!sandbox)("in the sandbox, a compromised ffmpeg", () => {
  beforeAll(open);
  afterAll(close);
  const cases = casesOf(["leaves links"]);
  it.each(cases)("in %s %s, and changes nothing outside", async (_name, act, { when, run }) => {
    await run(await takenOver(act, when, target));
  });
});

describe("without a sandbox, a compromised ffmpeg", () => {
  beforeAll(async () => {
    const restore = await withoutSandbox();
    await open();
    return restore;
  });
  afterAll(close);
  const cases = casesOf([]).filter(
    ([, act, { onlyInSandbox }]) => !onlyInSandbox && LINKS_AND_PIPES.some((allowed) => allowed === act),
  );
  it.each(cases)("in %s %s, and the node follows none", async (_name, act, { when, run }) => {
    await run(await takenOver(act, when, { ...target, hasSandbox: false }));
  });
});
