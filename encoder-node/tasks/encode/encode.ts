// The task `encode`: make all outputs from one source, and upload each as soon as it is made.
import type { HttpStreamOutput, OutputSpec } from "#shared/job/output-spec.ts";
import type { OutputReport, TaskResult } from "#shared/protocol/reports.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { openPublisher } from "../../publish/publisher.ts";
import { checkStreams } from "../../source/probe/check-streams.ts";
import { acquireSource } from "../../task/acquire-source.ts";
import type { TaskDeps } from "../../task/task-deps.ts";
import { inWorkspace } from "../../task/workspace.ts";
import { openDelivery } from "./deliver-outputs.ts";
import { encodeOutputs, type SplitEncode } from "./encode-outputs.ts";

/** `split` left out: each video is encoded in one run. */
export async function encode(task: TaskOf<"encode">, deps: TaskDeps, split?: SplitEncode): Promise<TaskResult> {
  const source = await acquireSource(task.sourceUrl, deps);
  let isHeld = true;
  const release = (): void => {
    if (isHeld) source.release();
    isHeld = false;
  };
  try {
    await deps.trace.step("probe", () => checkStreams(deps.ffmpeg, source.path, task.probe, deps.signal));
    return await inWorkspace(deps.workFolder, async (folder) => {
      const publisher = openPublisher(task.outputs.filter(isStream), deps);
      const delivery = openDelivery(task.outputs.length, deps);
      try {
        deps.progress("encoding", 0);
        await encodeOutputs({ task, source: source.path, folder, publisher, onEncoded: delivery.add, split }, deps);
        // Uploads may take long, and need neither the source nor an encoder.
        release();
        deps.releaseSlot();
        const outputs: OutputReport[] = await delivery.finish();
        return { kind: "encode", outputs };
      } finally {
        await Promise.all([publisher.stop(), delivery.stop()]);
      }
    });
  } finally {
    release();
  }
}

const isStream = (spec: OutputSpec): spec is HttpStreamOutput => spec.type === "httpstream";
