// What a node's reports do to a job. Pure: (state, report, now) → next state.
import { assertNever } from "#shared/errors.ts";
import type { TaskResult } from "#shared/protocol/protocol.ts";
import { chunkProblem, seamProblem, soundProblem, takeChunk, takeSound } from "../chunks/chunk-reports.ts";
import { moveTaskTo, patchTask, taskOf } from "../state/job-moves.ts";
import type { GrantedUpload, JobState } from "../state/job-state.ts";
import { type NamedFile, objectOf, uploadKey } from "../uploads/job-files.ts";
import { completeInspect } from "./inspected.ts";
import { completeOutputs } from "./output-reports.ts";
import { failTask } from "./task-ends.ts";

/** Remembers an upload that a grant is given, before the node learns of it; one of another size that it replaces is an orphan. */
export function recordUpload(state: JobState, taskId: string, file: NamedFile, upload: GrantedUpload): JobState {
  const { uploads } = taskOf(state, taskId);
  const replaced = uploads[uploadKey(file)]?.uploadId;
  const orphans = replaced
    ? [...state.orphans, { objectName: objectOf(state, file), uploadId: replaced }]
    : state.orphans;
  return patchTask({ ...state, orphans }, taskId, { uploads: { ...uploads, [uploadKey(file)]: upload } });
}

/**
 * A node finished its task. Outputs with multipart uploads wait in `publishing` until the storage completed them.
 * The result must be of the task's kind. `slots` are the encodes that all nodes can do at the same time.
 */
export function completeTask(state: JobState, taskId: string, result: TaskResult, now: number, slots = 1): JobState {
  const task = taskOf(state, taskId);
  switch (result.kind) {
    case "inspect":
      return completeInspect(state, result.probe, { task, chunking: result.chunking, slots }, now);
    case "chunk": {
      const problem = chunkProblem(state, task, result);
      return problem ? failTask(state, taskId, problem, now) : takeChunk(state, task, result, now);
    }
    case "sound": {
      const problem = soundProblem(task, result);
      return problem ? failTask(state, taskId, problem, now) : moveTaskTo(takeSound(state, result), taskId, "finish");
    }
    case "join": {
      const problem = seamProblem(result.seams);
      if (problem) return failTask(state, taskId, problem, now);
      const { chunks } = state;
      const joined = chunks ? { ...state, chunks: { ...chunks, seams: result.seams } } : state;
      return completeOutputs(joined, taskId, result.outputs, now);
    }
    case "encode":
      return completeOutputs(state, taskId, result.outputs, now);
    default:
      return assertNever(result);
  }
}
