// The task `encode`: make all outputs from one source, and upload each as soon as it is made.
import type { HttpStreamOutput, OutputSpec } from "#shared/job/output-spec.ts";
import { hasTracks } from "#shared/job/output-spec.ts";
import { planCleanCopy } from "#shared/plan/outputs/plan-clean-copy.ts";
import type { OutputReport, TaskResult } from "#shared/protocol/reports.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { openDelivery } from "../../outputs/deliver-outputs.ts";
import { openEarlyUploads } from "../../outputs/early-uploads.ts";
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
import { inWorkspace } from "../../workspace/workspace.ts";
import { encodeOutputs } from "./encode-outputs.ts";
import { type EncodeDeps, type EncodeSource, withEncodeSource } from "./encode-source.ts";

export function encode(task: TaskOf<"encode">, deps: TaskDeps): Promise<TaskResult> {
  return withEncodeSource(task, deps, async (source, sourceDeps) => {
    const isChecked = mayBeListedOtherwise(task.probe);
    const checked = checkedSource(source, sourceDeps);
    const probe = isChecked
      ? await withOwnIndexes(deps.ffmpeg, checked, task.probe, deps.signal, countsAudio(task))
      : task.probe;
    return withCleanSource({ ...task, probe }, source, sourceDeps, (cleanTask, clean) =>
      encodeSource({ task: cleanTask, source: clean, isChecked }, sourceDeps),
    );
  });
}

/** True if outputs name audio tracks of the source by their number. */
const countsAudio = ({ outputs }: TaskOf<"encode">): boolean =>
  outputs.some((spec) => hasTracks(spec) && spec.audioTracks !== undefined);

const checkedSource = ({ source, loopbackOptions }: EncodeSource, { network }: EncodeDeps): CheckedSource => ({
  path: source,
  network,
  ...(loopbackOptions ? { loopback: loopbackOptions } : {}),
});

type Work = {
  readonly task: TaskOf<"encode">;
  readonly source: EncodeSource;
  /** True if the indexes in the probe are from this node's ffmpeg. */
  readonly isChecked?: boolean;
};

async function encodeSource({ task, source, isChecked = false }: Work, sourceDeps: EncodeDeps): Promise<TaskResult> {
  const { release, ...input } = source;
  const useless = new AbortController();
  const deps = { ...sourceDeps, signal: AbortSignal.any([sourceDeps.signal, useless.signal]) };
  const checked = checkedSource(source, deps);
  // Checked while ffmpeg starts. Nothing is stored before the check has ended.
  const verified = isChecked
    ? Promise.resolve()
    : deps.trace.step("probe", () => checkStreams(deps.ffmpeg, checked, task.probe, deps.signal));
  verified.catch((error: unknown) => useless.abort(error));
  return inWorkspace(deps.workFolder, async (folder) => {
    const publisher = openPublisher(task.outputs.filter(isStream), deps);
    const uploads = openEarlyUploads(verified, deps);
    const delivery = openDelivery(task.outputs.length, deps, verified);
    try {
      deps.progress("encoding", 0);
      await encodeOutputs({ task, ...input, folder, publisher, uploads, onEncoded: delivery.add }, deps);
      await verified;
      // Uploads may take long. They need neither the source nor an encoder.
      release();
      deps.releaseSlot();
      const outputs: OutputReport[] = await delivery.finish();
      return { kind: "encode", outputs };
    } finally {
      await Promise.all([publisher.stop(), uploads.stop(), delivery.stop()]);
    }
  });
}

const isStream = (spec: OutputSpec): spec is HttpStreamOutput => spec.type === "httpstream";

/** For one encode, a copy without the color matrix replaces a source whose video states a reserved color matrix. */
const FILE = "clean";

/** Runs the work with the source, or with its copy and the copy's probe. Copying takes as long as writing the file. */
async function withCleanSource<Value>(
  task: TaskOf<"encode">,
  source: EncodeSource,
  deps: EncodeDeps,
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
