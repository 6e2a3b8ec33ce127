// The task `encode`: make all outputs from one source, and upload each as soon as it is made.
import type { HttpStreamOutput, OutputSpec } from "#shared/job/output-spec.ts";
import type { OutputReport, TaskResult } from "#shared/protocol/reports.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { openPublisher } from "../../publish/publisher.ts";
import {
  type CheckedSource,
  checkStreams,
  mayBeListedOtherwise,
  withOwnIndexes,
} from "../../source/probe/check-streams.ts";
import type { TaskDeps } from "../../task/task-deps.ts";
import { inWorkspace } from "../../task/workspace.ts";
import { withCleanSource } from "./clean-source.ts";
import { openDelivery } from "./deliver-outputs.ts";
import { openEarlyUploads } from "./early-uploads.ts";
import { encodeOutputs, type SplitEncode } from "./encode-outputs.ts";
import { type EncodeDeps, type EncodeSource, withEncodeSource } from "./encode-source.ts";

/** `split` left out: each video is encoded in one run. */
export function encode(task: TaskOf<"encode">, deps: TaskDeps, split?: SplitEncode): Promise<TaskResult> {
  return withEncodeSource(task, deps, async (source, sourceDeps) => {
    const isChecked = mayBeListedOtherwise(task.probe);
    const checked = checkedSource(source, sourceDeps);
    const probe = isChecked ? await withOwnIndexes(deps.ffmpeg, checked, task.probe, deps.signal) : task.probe;
    return withCleanSource({ ...task, probe }, source, sourceDeps, (cleanTask, clean) =>
      encodeSource({ task: cleanTask, source: clean, split, isChecked }, sourceDeps),
    );
  });
}

const checkedSource = ({ source, loopbackOptions }: EncodeSource, { network }: EncodeDeps): CheckedSource => ({
  path: source,
  network,
  ...(loopbackOptions ? { loopback: loopbackOptions } : {}),
});

type Work = {
  readonly task: TaskOf<"encode">;
  readonly source: EncodeSource;
  readonly split: SplitEncode | undefined;
  /** The indexes in the probe are those of this node's ffmpeg. */
  readonly isChecked?: boolean;
};

async function encodeSource(
  { task, source, split, isChecked = false }: Work,
  sourceDeps: EncodeDeps,
): Promise<TaskResult> {
  const { release, ...input } = source;
  const useless = new AbortController();
  const deps = { ...sourceDeps, signal: AbortSignal.any([sourceDeps.signal, useless.signal]) };
  const checked = checkedSource(source, deps);
  // While ffmpeg starts. Nothing is stored before it has ended.
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
      await encodeOutputs({ task, ...input, folder, publisher, uploads, onEncoded: delivery.add, split }, deps);
      await verified;
      // Uploads may take long, and need neither the source nor an encoder.
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
