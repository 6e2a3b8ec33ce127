// Runs the node's own code on a single file: inspects it, lists its frames, and makes and uploads a few outputs.
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError, type ErrorCode } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { type OutputOptions, specOf } from "#shared/testing/output-specs.ts";
import { runCommand } from "../../encoder-node/ffmpeg/run-command.ts";
import { encode } from "../../encoder-node/tasks/encode/encode.ts";
import { inspect } from "../../encoder-node/tasks/inspect/inspect.ts";
import { startTestStorage, type TestStorage } from "../../encoder-node/testing/jobs/stream-storage.ts";
import { sourceAt, startTestNode, type TestNode, tools } from "../../encoder-node/testing/task-deps.ts";
import type { TaskDeps } from "../../encoder-node/workspace/task-deps.ts";
import { childrenNamed, watchChildren } from "./children.ts";

/** Outcome for a file: a result per output, or the failure of the input. */
export type Verdict = {
  /** `made` or a failure's code, per output; or a single code for the input. */
  readonly outcomes: readonly ("made" | ErrorCode | "unknown")[];
  readonly messages: readonly string[];
  readonly tookMs: number;
  /** Peak memory of ffmpeg and ffprobe. */
  readonly peakMiB: number;
};

export type Lab = {
  readonly folder: string;
  /** Makes a clip of 64x36 with a tone, 0.5 s long, as a file of this name with these ffmpeg options. */
  make(name: string, options?: string): Promise<Buffer>;
  judge(path: string, asks?: readonly OutputOptions[]): Promise<Verdict>;
  /** Files in the node's folder and programs that still run; empty if all is well. */
  leftovers(): Promise<string[]>;
  close(): Promise<void>;
};

export const TOOLS = /^(?:ffmpeg|ffprobe)/;

const CLIP = "-f lavfi -i testsrc2=s=64x36:r=25:d=0.5 -f lavfi -i sine=d=0.5";

/** Small outputs that take video and audio through decoder, filters, encoders and muxers. */
export const TINY: readonly OutputOptions[] = [
  { format: "mp4:64x", durationMs: 2000 },
  { format: "jpg:32x", number: 1 },
  { format: "mp3", durationMs: 2000 },
];

export async function openLab(): Promise<Lab> {
  const folder = await mkdtemp(join(tmpdir(), "copra-hostile-"));
  const work = join(folder, "node");
  await mkdir(work);
  const node = startTestNode(work);
  const storage = await startTestStorage();
  let job = 0;
  return {
    folder,
    async make(name, options = "") {
      const argv = [...`-v error -nostdin -y ${CLIP} ${options}`.trim().split(/ +/), name];
      const result = await runCommand({ path: tools.ffmpeg.path, argv, cwd: folder, stallMs: 20_000 });
      if (!result.ok) throw new Error(`${name}: ${result.stderrTail}`);
      return readFile(join(folder, name));
    },
    async judge(path, asks = TINY) {
      job += 1;
      const watch = watchChildren(TOOLS);
      const start = performance.now();
      const source = { job: String(job).padStart(14, "0"), path, asks };
      const { outcomes, messages } = await makeAll(source, node, storage);
      watch.stop();
      storage.objects.clear();
      return { outcomes, messages, tookMs: Math.round(performance.now() - start), peakMiB: watch.peakMiB() };
    },
    async leftovers() {
      const running = (await childrenNamed(TOOLS)).map(({ name, pid }) => `${name} ${pid}`);
      return [...(await readdir(join(work, "tasks")).catch(() => [])), ...running];
    },
    async close() {
      storage.close();
      await node.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

type Given = { readonly job: string; readonly path: string; readonly asks: readonly OutputOptions[] };
type Judged = Pick<Verdict, "outcomes" | "messages">;

async function makeAll({ job, path, asks }: Given, node: TestNode, storage: TestStorage): Promise<Judged> {
  const deps: Partial<TaskDeps> = { requestUploads: storage.requestUploads, sources: sourceAt(path) };
  // No server listens there. The file is already here, so that any request for it is a mistake.
  const sourceUrl = "http://127.0.0.1:9/";
  try {
    const look = { kind: "inspect" as const, sourceUrl, chunking: { readOrigin: false } };
    const seen = await inspect(look, node.depsOf(`${job}.inspect.1`, look, deps));
    if (seen.kind !== "inspect") throw new Error("Not the result of an inspection");
    const outputs = asks.map(specOf);
    const task: TaskOf<"encode"> = { kind: "encode", sourceUrl, probe: seen.probe, outputs };
    const result = await encode(task, node.depsOf(`${job}.encode.1`, task, deps));
    if (result.kind !== "encode") throw new Error("Not the result of an encode");
    const reports = result.outputs.toSorted((a, b) => a.output - b.output);
    return {
      outcomes: reports.map((report) => (report.status === "failed" ? report.failure.code : "made")),
      messages: reports.map((report) => (report.status === "failed" ? report.failure.message : "")),
    };
  } catch (error) {
    return { outcomes: [error instanceof AppError ? error.code : "unknown"], messages: [messageOf(error)] };
  }
}
