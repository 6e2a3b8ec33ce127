// What the tests of chunked films share: clips, and all tasks of a film as the control plane makes them, against a real ffmpeg
// and a real scratch bucket.
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join as pathOf } from "node:path";
import { expect } from "vitest";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import { unpackCuts } from "#shared/media/frame-index.ts";
import { chooseCuts } from "#shared/plan/chunks/choose-split-points.ts";
import { chunkGridMs } from "#shared/plan/chunks/chunkable.ts";
import { Task, type TaskOf, type TaskResult } from "#shared/protocol/protocol.ts";
import { runCommand } from "../ffmpeg/run-command.ts";
import type { TaskDeps } from "../task/task-deps.ts";
import { sound } from "../tasks/audio.ts";
import { chunk } from "../tasks/chunk/chunk.ts";
import { encode } from "../tasks/encode/encode.ts";
import { inspect } from "../tasks/inspect/inspect.ts";
import { join } from "../tasks/join/join.ts";
import { closeServers, sendRange, serve } from "./range-server.ts";
import { type ScratchBucket, startScratchBucket } from "./scratch-bucket.ts";
import { startTestStorage, type TestStorage } from "./stream-storage.ts";
import { startTestNode, type TestNode, tools } from "./task-deps.ts";

const X264 = "-c:v libx264 -preset ultrafast -g 60 -pix_fmt yuv420p";
const SOUND = "-f lavfi -i sine=d=70:r=48000";
const UNEVEN = "select='not(between(mod(t,1),0.25,0.5))',settb=1/90000";
const CLIPS = {
  "ntsc.mp4": `-f lavfi -i testsrc2=s=160x90:r=30000/1001:d=70 ${SOUND} ${X264} -bf 2 -c:a aac`,
  "uneven.mkv": `-f lavfi -i testsrc2=s=160x90:r=20:d=70 ${SOUND} -vf ${UNEVEN} -fps_mode vfr ${X264} -c:a aac`,
  "film.ts": `-f lavfi -i testsrc2=s=160x90:r=25:d=70 ${SOUND} ${X264} -c:a aac`,
};
export type Clip = keyof typeof CLIPS;

export type Studio = {
  readonly folder: string;
  readonly bucket: ScratchBucket;
  readonly node: TestNode;
  /** Where the clips are served. */
  readonly origin: string;
  close(): Promise<void>;
};

/** One node, a scratch bucket, and these clips on a server. */
export async function openStudio(clips: readonly Clip[]): Promise<Studio> {
  const folder = await mkdtemp(pathOf(tmpdir(), "copra-chunked-"));
  for (const name of clips) {
    const argv = ["-v", "error", "-nostdin", ...CLIPS[name].split(" "), name];
    expect(await runCommand({ path: tools.ffmpeg.path, argv, cwd: folder, stallMs: 60_000 })).toEqual({ ok: true });
  }
  const bucket = await startScratchBucket();
  const node = startTestNode(folder);
  const { origin } = await serve(async (request, response) => {
    sendRange(await readFile(pathOf(folder, (request.url ?? "").slice(1))), request, response);
  });
  return {
    ...{ folder, bucket, node, origin },
    async close() {
      closeServers();
      await node.close();
      await bucket.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

let jobs = 0;
export const newJob = (): string => String(++jobs).padStart(14, "0");
export const leaseOf = (job: string, task: string): string => `${job}.${task}.1`;

export type Outputs = { readonly result: TaskResult & { kind: "encode" | "join" }; readonly storage: TestStorage };

/** Encodes all in one run. */
export async function whole(studio: Studio, clip: Clip, outputs: OutputSpec[]): Promise<Outputs> {
  const storage = await startTestStorage();
  const lease = leaseOf(newJob(), "encode");
  const { probe } = await inspected(studio, clip, lease, null);
  const task = { kind: "encode" as const, sourceUrl: `${studio.origin}/${clip}`, probe, outputs };
  const result = await encode(task, studio.node.depsOf(lease, task, storage));
  if (result.kind !== "encode") throw new Error("Not the result of an encode");
  storage.close();
  return { result, storage };
}

async function inspected(
  { node, bucket, origin }: Studio,
  clip: Clip,
  lease: string,
  chunking: TaskOf<"inspect">["chunking"],
) {
  const task = { kind: "inspect" as const, sourceUrl: `${origin}/${clip}`, chunking };
  const result = await inspect(task, node.depsOf(lease, task, bucket));
  if (result.kind !== "inspect") throw new Error("Not the result of an inspect");
  return result;
}

export type Chunked = {
  readonly job: string;
  readonly ranged: Omit<TaskOf<"sound">, "kind">;
  readonly chunks: readonly TaskOf<"chunk">[];
};

/** What the control plane makes of a film: the tasks of its chunks. */
export async function chunkTasks(studio: Studio, clip: Clip, outputs: OutputSpec[]): Promise<Chunked> {
  const job = newJob();
  const { probe, chunking } = await inspected(studio, clip, leaseOf(job, "inspect"), { readOrigin: false });
  if (!chunking?.ok) throw new Error(chunking?.why);
  const film = { ...chunking, cuts: unpackCuts(chunking.cuts) };
  const chosen = chooseCuts(film, { segmentMs: chunkGridMs(outputs) ?? 0, slots: 2, soundMs: 0 });
  if (!chosen.ok) throw new Error(chosen.why);
  const ranged = { sourceUrl: `${studio.origin}/${clip}`, source: chunking.source, probe, outputs };
  const chunks = chosen.chunks.map((span) => ({ kind: "chunk" as const, ...ranged, chunk: span, encoder: null }));
  return { job, ranged, chunks };
}

/** Encodes it in chunks and joins them; `given` are what the join has of its own. */
export async function inChunks(
  studio: Studio,
  clip: Clip,
  outputs: OutputSpec[],
  given: (storage: TestStorage) => Partial<TaskDeps> = () => ({}),
): Promise<Outputs> {
  const { node, bucket, folder } = studio;
  const { job, ranged, chunks } = await chunkTasks(studio, clip, outputs);
  expect(chunks.length).toBeGreaterThan(1);
  const storage = await startTestStorage();
  const made = await Promise.all(
    chunks.map(async (task) => {
      const result = await chunk(task, node.depsOf(leaseOf(job, `chunk-${task.chunk.index}`), task, bucket));
      if (result.kind !== "chunk") throw new Error("Not the result of a chunk");
      expect(result.encoder).toBe("libx264 n7");
      return { range: task.chunk, tracks: result.tracks };
    }),
  );
  const soundTask = { kind: "sound" as const, ...ranged };
  const sounds = await sound(soundTask, node.depsOf(leaseOf(job, "sound"), soundTask, bucket));
  if (sounds.kind !== "sound") throw new Error("Not the result of a sound");
  const task = { kind: "join" as const, probe: ranged.probe, outputs, chunks: made, sound: sounds.tracks };
  // As it travels.
  Task.parse(task);
  const deps = node.depsOf(leaseOf(job, "join"), task, { ...bucket, ...storage, ...given(storage) });
  const result = await join(task, deps);
  if (result.kind !== "join") throw new Error("Not the result of a join");
  expect(await readdir(pathOf(folder, "tasks"))).toEqual([]);
  storage.close();
  return { result, storage };
}
