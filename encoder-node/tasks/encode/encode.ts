// The task `encode`: make all outputs from one source, and upload each as soon as it is made.
import { type HttpStreamOutput, hasTracks, type OutputSpec } from "#shared/job/output-spec.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
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
import type { ServedSource } from "../../workspace/read-ranged.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";
import { inWorkspace } from "../../workspace/workspace.ts";
import { EncodeRun } from "./encode-run.ts";
import { type EncodeSource, withEncodeSource } from "./encode-source.ts";
import { OutputMeasurement } from "./measure-outputs.ts";

const MEASURES: readonly Measure[] = ["watermarks", "texts", "audio", "captions", "gains", "targets"];

export function encode(task: TaskOf<"encode">, deps: TaskDeps): Promise<TaskResult> {
  return withEncodeSource(task, deps, async (source, sourceDeps) => {
    const indexed = await withIndexes(task, source, sourceDeps);
    return withCleanSource(indexed, source, sourceDeps, (cleanTask, clean) =>
      encodeSource(cleanTask, clean, sourceDeps),
    );
  });
}

async function encodeSource(
  { probe, outputs }: TaskOf<"encode">,
  { release, ...source }: EncodeSource,
  sourceDeps: TaskDeps,
): Promise<TaskResult> {
  const useless = new AbortController();
  const deps = { ...sourceDeps, signal: AbortSignal.any([sourceDeps.signal, useless.signal]) };
  // Checked while ffmpeg starts. Nothing is stored before the check has ended.
  const verified = verify(probe, source, deps);
  verified.catch((error: unknown) => useless.abort(error));
  return inWorkspace(deps.workFolder, async (folder) => {
    const publisher = openPublisher(outputs.filter(isStream), deps);
    const uploads = openEarlyUploads(verified, deps);
    const delivery = openDelivery(outputs.length, deps, verified);
    try {
      deps.progress("encoding", 0);
      const work = { ...source, probe, outputs, folder, onEnded: delivery.add };
      const texts = await sourceTexts(outputs, work, deps);
      const prepared = await prepare(MEASURES, { ...work, texts }, deps);
      const measurement = new OutputMeasurement(prepared, deps);
      const onEncoded = (encoded: readonly Encoded[]): void =>
        delivery.add(encoded.map((output) => measurement.add(prepared.describe(output))));
      await new EncodeRun(prepared, { publisher, uploads, onEncoded }, deps).run();
      await measurement.run();
      await verified;
      // Uploads may take long. They need neither the source nor an encoder.
      release();
      deps.releaseSlot();
      return { kind: "encode", outputs: await delivery.finish() };
    } finally {
      await Promise.all([publisher.stop(), uploads.stop(), delivery.stop()]);
    }
  });
}

const checkedSource = ({ source: path, loopbackOptions: loopback, network }: ServedSource): CheckedSource => ({
  path,
  loopback,
  network,
});

/** The task with the stream indexes of this node's ffmpeg, if versions of ffmpeg may list other streams. */
async function withIndexes(
  task: TaskOf<"encode">,
  source: ServedSource,
  { ffmpeg, signal }: TaskDeps,
): Promise<TaskOf<"encode">> {
  if (!mayBeListedOtherwise(task.probe)) return task;
  const probe = await withOwnIndexes(ffmpeg, checkedSource(source), task.probe, signal, countsAudio(task));
  return { ...task, probe };
}

/** Checks that this node's ffmpeg lists the same streams, if `withIndexes` has not. */
async function verify(probe: MediaProbe, source: ServedSource, { ffmpeg, signal, trace }: TaskDeps): Promise<void> {
  if (mayBeListedOtherwise(probe)) return;
  await trace.step("probe", () => checkStreams(ffmpeg, checkedSource(source), probe, signal));
}

/** True if outputs name audio tracks of the source by their number. */
const countsAudio = ({ outputs }: TaskOf<"encode">): boolean =>
  outputs.some((spec) => hasTracks(spec) && spec.audioTracks !== undefined);

const isStream = (spec: OutputSpec): spec is HttpStreamOutput => spec.type === "httpstream";

/** For one encode, a copy without the color matrix replaces a source whose video states a reserved color matrix. */
const FILE = "clean";

/** Runs the work with the source, or with its copy and the copy's probe. Copying takes as long as writing the file. */
async function withCleanSource<Value>(
  task: TaskOf<"encode">,
  source: EncodeSource,
  deps: TaskDeps,
  work: (task: TaskOf<"encode">, source: EncodeSource) => Promise<Value>,
): Promise<Value> {
  const run = needsFrames(task) ? planCleanCopy(source, task.probe, FILE, countsAudio(task)) : null;
  if (!run) return work(task, source);
  return inWorkspace(deps.workFolder, async (folder) => {
    const files = await RunFiles.create(folder);
    await runOnSource(source, [run], files, deps);
    const path = files.pathOf(FILE);
    const probe = await readOwnFile(probeSource(deps.ffprobe, path, deps.signal));
    return work({ ...task, probe }, { source: path, release: source.release });
  });
}

/** True if any output is more than a copy of the video. */
const needsFrames = ({ outputs }: TaskOf<"encode">): boolean =>
  outputs.some((spec) => spec.type !== "video" || (spec.video !== null && spec.video.codec !== "copy"));
