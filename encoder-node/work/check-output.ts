// Whether what ffmpeg left behind is what was planned: its exit status alone proves nothing.
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { AppError, type Failure } from "#shared/errors.ts";
import { type MediaProbe, sourceFacts } from "#shared/media-probe.ts";
import type { PlannedOutput } from "#shared/plan/plan-encode.ts";
import type { TaskOf } from "#shared/protocol.ts";
import { probeFile } from "../input/probe.ts";
import type { TaskDeps } from "./task-deps.ts";

export type MadeFile = { path: string; sizeBytes: number };
export type MadeOutput = { output: number; files: MadeFile[]; probe: MediaProbe | null };

/** Durations may differ from the plan by so much, and by so much of the plan (frame and audio frame borders). */
const TOLERANCE_MS = 500;
const TOLERANCE_SHARE = 0.01;

/** The files of an output, looked at; or why they are not what was planned. */
export async function checkOutput(
  planned: PlannedOutput,
  task: TaskOf<"encode">,
  folder: string,
  deps: TaskDeps,
): Promise<MadeOutput | { output: number; failure: Failure }> {
  const { output } = planned;
  try {
    const files = await Promise.all(planned.files.map((name) => lookAt(join(folder, name))));
    const isImage = task.outputs.some(({ index, type }) => index === output && type === "image");
    if (isImage) return { output, files, probe: null };
    const [first] = files;
    if (!first) throw new AppError("encoding_failed", "The encoder made no file");
    const probe = await probeFile(deps.ffprobe, first.path, deps.signal);
    checkDuration(planned.expectedDurationMs, probe);
    return { output, files, probe };
  } catch (error) {
    deps.signal.throwIfAborted();
    const message = error instanceof AppError ? error.message : "The encoder made no usable file";
    return { output, failure: { code: "encoding_failed", message } };
  }
}

async function lookAt(path: string): Promise<MadeFile> {
  const found = await stat(path).catch(() => null);
  if (!found?.isFile() || found.size === 0)
    throw new AppError("encoding_failed", "The encoder made fewer files than planned");
  return { path, sizeBytes: found.size };
}

function checkDuration(expectedMs: number | null, probe: MediaProbe): void {
  const { durationMs } = sourceFacts(probe);
  if (expectedMs === null || durationMs === null) return;
  const tolerance = Math.max(TOLERANCE_MS, expectedMs * TOLERANCE_SHARE);
  if (Math.abs(durationMs - expectedMs) <= tolerance) return;
  const seconds = (ms: number): string => (ms / 1000).toFixed(2);
  throw new AppError(
    "encoding_failed",
    `The result is ${seconds(durationMs)} s long instead of ${seconds(expectedMs)} s; the source may be damaged or cut short`,
  );
}
