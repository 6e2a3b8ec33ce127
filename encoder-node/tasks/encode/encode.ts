// The task `encode`: make all outputs from one source, and upload each as soon as it is made.
import { hasTracks, type OutputSpec } from "#shared/job/output-spec.ts";
import { planCleanCopy } from "#shared/plan/outputs/plan-clean-copy.ts";
import type { TaskResult } from "#shared/protocol/reports.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { type Encoded, openDelivery } from "../../outputs/deliver-outputs.ts";
import { openEarlyUploads } from "../../outputs/early-uploads.ts";
import { type Measure, prepare } from "../../prepare/prepare.ts";
import { sourceTexts } from "../../prepare/read-texts.ts";
import { runOnSource } from "../../prepare/run-planned.ts";
import { openPublisher } from "../../publish/publisher.ts";
import { RunFiles } from "../../run-files/run-files.ts";
import {
  type CheckedSource,
  checkStreams,
  mayBeListedOtherwise,
  withOwnIndexes,
} from "../../source/probe/check-streams.ts";
import { probeSource } from "../../source/probe/probe-source.ts";
import { readOwnFile } from "../../upload/made-file.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";
import type { ServedSource, WorkSource } from "../../workspace/task-source.ts";
import { inWorkspace } from "../../workspace/workspace.ts";
import { EncodeRun } from "./encode-run.ts";
import { withEncodeSource } from "./encode-source.ts";
import { OutputMeasurement } from "./measure-outputs.ts";

const MEASURES: readonly Measure[] = ["watermarks", "texts", "audio", "captions", "gains", "targets"];

export function encode(task: TaskOf<"encode">, deps: TaskDeps): Promise<TaskResult> {
  const { probe, outputs } = task;
  return withEncodeSource(task, deps, ({ release, ...source }, sourceDeps) =>
    inWorkspace(deps.workFolder, async (folder) => {
      const indexed = await withIndexes({ ...source, probe, outputs, folder }, sourceDeps);
      return encodeSource(await withCleanSource(indexed, sourceDeps), release, sourceDeps);
    }),
  );
}

/** The source as it is read, and the outputs to make of it. */
type Work = WorkSource & Pick<TaskOf<"encode">, "outputs">;

async function encodeSource(work: Work, releaseSource: () => void, sourceDeps: TaskDeps): Promise<TaskResult> {
  const useless = new AbortController();
  const deps = { ...sourceDeps, signal: AbortSignal.any([sourceDeps.signal, useless.signal]) };
  // Checked while ffmpeg starts. Nothing is stored before the check has ended.
  const verified = verify(work, deps);
  verified.catch((error: unknown) => useless.abort(error));
  const publisher = openPublisher(work.outputs, deps);
  const uploads = openEarlyUploads(verified, deps);
  const delivery = openDelivery(work.outputs.length, deps, verified);
  try {
    deps.progress("encoding", 0);
    const texts = await sourceTexts(work.outputs, work, deps);
    const prepared = await prepare(MEASURES, { ...work, texts, onEnded: delivery.add }, deps);
    const measurement = new OutputMeasurement(prepared, deps);
    const onEncoded = (encoded: readonly Encoded[]): void =>
      delivery.add(encoded.map((output) => measurement.add(prepared.describe(output))));
    await new EncodeRun(prepared, { publisher, uploads, onEncoded }, deps).run();
    await measurement.run();
    await verified;
    // Uploads may take long. They need neither the source nor an encoder.
    releaseSource();
    deps.releaseSlot();
    return { kind: "encode", outputs: await delivery.finish() };
  } finally {
    await Promise.all([publisher.stop(), uploads.stop(), delivery.stop()]);
  }
}

const checkedSource = ({ source: path, loopbackOptions: loopback, network }: ServedSource): CheckedSource => ({
  path,
  loopback,
  network,
});

/** Takes the stream indexes of this node's ffmpeg, if versions of ffmpeg may list other streams. */
async function withIndexes(work: Work, { ffmpeg, signal }: TaskDeps): Promise<Work> {
  const { probe, outputs } = work;
  if (!mayBeListedOtherwise(probe)) return work;
  return { ...work, probe: await withOwnIndexes(ffmpeg, checkedSource(work), probe, signal, countsAudio(outputs)) };
}

/** Checks that this node's ffmpeg lists the same streams, if `withIndexes` has not. */
async function verify(work: Work, { ffmpeg, signal, trace }: TaskDeps): Promise<void> {
  if (mayBeListedOtherwise(work.probe)) return;
  await trace.step("probe", () => checkStreams(ffmpeg, checkedSource(work), work.probe, signal));
}

/** True if outputs name audio tracks of the source by their number. */
const countsAudio = (outputs: readonly OutputSpec[]): boolean =>
  outputs.some((spec) => hasTracks(spec) && spec.audioTracks !== undefined);

const CLEAN_FILE = "clean";

/**
 * Replaces a source whose video states a reserved color matrix by a copy without it. Copying takes as long as writing
 * the file.
 */
async function withCleanSource(work: Work, deps: TaskDeps): Promise<Work> {
  const { probe, outputs, folder } = work;
  const run = outputs.some(needsFrames) ? planCleanCopy(work, probe, CLEAN_FILE, countsAudio(outputs)) : null;
  if (!run) return work;
  const files = await RunFiles.create(folder);
  await runOnSource(work, [run], files, deps);
  const source = files.pathOf(CLEAN_FILE);
  const cleanProbe = await readOwnFile(probeSource(deps.ffprobe, source, deps.signal));
  return { source, probe: cleanProbe, outputs, folder };
}

/** True if an output is more than a copy of the video. */
const needsFrames = (spec: OutputSpec): boolean =>
  spec.type !== "video" || (spec.video !== null && spec.video.codec !== "copy");
