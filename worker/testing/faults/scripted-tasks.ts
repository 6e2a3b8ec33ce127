// The script of a node for each kind of task.

import { assertNever, type Failure } from "#shared/errors.ts";
import { parseLeaseId } from "#shared/ids.ts";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import { streamFolder } from "#shared/job/stream-files.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { countImageFiles } from "#shared/plan/thumbnails/image-files.ts";
import type { OutputReport, TaskResult } from "#shared/protocol/reports.ts";
import { ScratchAnswer, scratchFolder } from "#shared/protocol/scratch.ts";
import type { FileName, UploadedFile, UploadPart } from "#shared/protocol/uploads.ts";
import { UploadsAnswer } from "#shared/protocol/uploads.ts";
import { requiredFiles } from "../../job/uploads/job-files.ts";
import { videoChunking, videoProbe } from "../jobs.ts";
import { direct } from "./fault-points.ts";
import { Dropped, type ScriptedLease } from "./scripted-lease.ts";

/** Size of files that need not be large. */
const SMALL_BYTES = 300;

/** Requests for an upload before the node gives up on a failing storage. */
const MAX_REQUESTS = 5;

/** The byte that fills all uploads of a lease. */
export function contentByteOf(lease: string): number {
  const { task, attempt } = parseLeaseId(lease) ?? {};
  return 1 + ([...`${task}.${attempt}`].reduce((sum, char) => 31 * sum + char.charCodeAt(0), 7) % 251);
}

/** Does a task and reports it. Throws Dropped. */
export async function doTask(leased: ScriptedLease): Promise<void> {
  const { scenario } = leased.world;
  await leased.progress("transferring", 0.5);
  const code = scenario.fails?.[leased.assignment.task.kind];
  if (code) {
    await leased.post("fail", { failure: { code, message: "The scenario fails this task" } });
    return;
  }
  const result = await resultOf(leased);
  await leased.post("complete", { result });
}

async function resultOf(leased: ScriptedLease): Promise<TaskResult> {
  const { seconds } = leased.world.scenario;
  const { task, lease } = leased.assignment;
  const named = parseLeaseId(lease);
  const folder = scratchFolder(named?.task ?? "", named?.attempt ?? 0);
  switch (task.kind) {
    case "inspect": {
      const probe = videoProbe(seconds);
      if (!task.chunking) return { kind: "inspect", probe };
      await writeScratch(leased, [`${folder}source-1`]);
      return { kind: "inspect", probe, chunking: videoChunking(seconds, folder.slice(0, -1)) };
    }
    case "chunk": {
      const tracks = task.outputs.map(({ index }) => {
        return { output: index, track: "v", name: `${folder}${index}.mp4`, sizeBytes: 4, frames: task.chunk.frames };
      });
      await leased.progress("encoding", 0.5);
      await writeScratch(
        leased,
        tracks.map(({ name }) => name),
      );
      return { kind: "chunk", tracks, encoder: "libx264 7.0", encodeMs: 1 };
    }
    case "audio":
    case "texts": {
      const tracks = task.outputs.map(({ index }) => {
        return { output: index, track: "audio", name: `${folder}${index}.mp4`, sizeBytes: 4, frames: null };
      });
      await writeScratch(
        leased,
        tracks.map(({ name }) => name),
      );
      return { kind: task.kind, tracks };
    }
    case "encode": {
      const [last, ...others] = task.outputs.toReversed();
      await leased.progress("encoding", 0.5);
      for (const spec of others.toReversed()) {
        await leased.post("outputs", { outputs: [await makeOutput(leased, spec, task.probe)] });
      }
      return { kind: "encode", outputs: last ? [await makeOutput(leased, last, task.probe)] : [] };
    }
    case "join": {
      const gets = [...task.chunks.flatMap(({ tracks }) => tracks), ...task.audio, ...(task.texts ?? [])].map(
        ({ name }) => name,
      );
      for (const url of (await requestScratch(leased, [], gets)).gets) {
        if (!(await direct.fetch(url)).ok) throw new Dropped("An object of the scratch bucket is gone");
      }
      const frames = task.chunks.reduce((sum, { range }) => sum + range.frames, 0);
      const boundaries = { framesPlanned: frames, framesJoined: frames, largestErrorUs: 0, videoOverAudioMs: 0 };
      return { kind: "join", outputs: await makeOutputs(leased, task.outputs, task.probe), boundaries };
    }
    default:
      return assertNever(task);
  }
}

async function requestScratch(leased: ScriptedLease, puts: readonly string[], gets: readonly string[]) {
  const asked = { puts: puts.map((name) => ({ name, sizeBytes: 4 })), gets };
  const answer = ScratchAnswer.parse(await leased.post("scratch", asked));
  if ("failure" in answer) throw new Error(answer.failure.message);
  return answer;
}

async function writeScratch(leased: ScriptedLease, names: readonly string[]): Promise<void> {
  for (const part of (await requestScratch(leased, names, [])).puts) await put(part, 0);
}

async function makeOutputs(
  leased: ScriptedLease,
  specs: readonly OutputSpec[],
  probe: MediaProbe,
): Promise<OutputReport[]> {
  await leased.progress("encoding", 0.5);
  const reports: OutputReport[] = [];
  for (const spec of specs) reports.push(await makeOutput(leased, spec, probe));
  return reports;
}

async function makeOutput(leased: ScriptedLease, spec: OutputSpec, probe: MediaProbe): Promise<OutputReport> {
  const { lease } = leased.assignment;
  const { world } = leased;
  const { scenario } = world;
  const output = spec.index;
  const folder = streamFolder(lease, 1);
  const segments = spec.type === "httpstream" ? [`hls/${folder}/1.ts`, `dash/${folder}/1.m4s`] : [];
  if (segments.length > 0) await upload(leased, output, segments, SMALL_BYTES);
  await leased.progress("uploading", 0.5);
  const sizeBytes = spec.type === "video" ? scenario.sizeBytes : SMALL_BYTES;
  const files = await upload(
    leased,
    output,
    requiredFiles(spec, { images: spec.type === "image" ? countImageFiles(spec, probe) : null }),
    sizeBytes,
  );
  if (scenario.isCancelled) await world.cancel();
  if ("code" in files) return { status: "failed", output, failure: files };
  if (spec.type !== "httpstream") return { status: "made", output, files, probe: spec.type === "video" ? probe : null };
  return { status: "made", output, files, probe: null, packages: { hls: probe, dash: probe } };
}

/** Uploads files. Returns the failure if the storage rejects them. */
async function upload(
  leased: ScriptedLease,
  output: number,
  files: readonly FileName[],
  sizeBytes: number,
): Promise<UploadedFile[] | Failure> {
  const wanted = files.map((file) => ({ output, file, sizeBytes }));
  let answer = UploadsAnswer.parse(await leased.post("uploads", { files: wanted }));
  // Like a real node: a failure of the storage may be temporary, and is no reason to encode again.
  for (let tries = 1; "failure" in answer && tries < MAX_REQUESTS; tries++) {
    answer = UploadsAnswer.parse(await leased.post("uploads", { files: wanted }));
  }
  if ("failure" in answer) return answer.failure;
  const sent: UploadedFile[] = [];
  for (const { file, parts } of answer.uploads) {
    const etags: string[] = [];
    for (const part of parts) etags.push(await put(part, contentByteOf(leased.assignment.lease)));
    sent.push({ output, file, sizeBytes, etags });
  }
  return sent;
}

/** Sends a signed PUT. If the upload was aborted meanwhile, the task ends. */
async function put({ url, headers, sizeBytes }: UploadPart, mark: number): Promise<string> {
  const response = await direct.fetch(url, { method: "PUT", headers, body: new Uint8Array(sizeBytes).fill(mark) });
  await response.body?.cancel();
  if (response.status === 404) throw new Dropped("The upload is gone");
  if (!response.ok) throw new Error(`The storage responded with ${response.status} to ${url}`);
  return response.headers.get("etag") ?? "";
}
