// The task `encode`: make all outputs from one source, and bring them to the storage.
import type { HttpStreamOutput, OutputSpec } from "#shared/output-spec.ts";
import type { TaskOf, TaskResult } from "#shared/protocol.ts";
import { checkStreams } from "../input/check-streams.ts";
import { openPublisher } from "../publish/publisher.ts";
import type { MadeOutput } from "./check-output.ts";
import { encodeOutputs } from "./encode-outputs.ts";
import { acquireSource, type TaskDeps } from "./task-deps.ts";
import { uploadOutputs } from "./upload-outputs.ts";
import { inWorkspace } from "./workspace.ts";

export async function encode(task: TaskOf<"encode">, deps: TaskDeps): Promise<TaskResult> {
  const source = await acquireSource(task.sourceUrl, deps);
  try {
    await checkStreams(deps.ffmpeg, source.path, task.probe, deps.signal);
    return await inWorkspace(deps.workFolder, async (folder) => {
      const publisher = openPublisher(task.outputs.filter(isStream), deps);
      try {
        deps.progress("encoding", 0);
        const encoded = await encodeOutputs({ task, source: source.path, folder, publisher }, deps);
        deps.progress("uploading", 0);
        const made = encoded.filter((output): output is MadeOutput => !("failure" in output));
        const failed = encoded.flatMap((output) =>
          "failure" in output ? [{ status: "failed" as const, output: output.output, failure: output.failure }] : [],
        );
        return { kind: "encode", outputs: [...(await uploadOutputs(made, deps)), ...failed] };
      } finally {
        await publisher.stop();
      }
    });
  } finally {
    source.release();
  }
}

const isStream = (spec: OutputSpec): spec is HttpStreamOutput => spec.type === "httpstream";
