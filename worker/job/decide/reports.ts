// Changes of a job by the result of a task. Pure: (state, report, now) → next state.
import { assertNever } from "#shared/errors.ts";
import type { TaskResult } from "#shared/protocol/reports.ts";
import {
  acceptAudio,
  acceptChunk,
  acceptTexts,
  audioFailure,
  boundaryFailure,
  chunkFailure,
  NOT_ALL_JOINED,
  textsFailure,
} from "../chunks/chunk-reports.ts";
import { joinsEarly } from "../chunks/chunk-work.ts";
import { endAttempt } from "../state/attempt-log.ts";
import { moveTaskTo, taskOf } from "../state/job-moves.ts";
import type { JobState } from "../state/job-state.ts";
import { completeInspect } from "./inspected.ts";
import { completeOutputs } from "./output-reports.ts";
import { failTask } from "./task-ends.ts";

/**
 * Takes the result of a finished task, which must be of the task's kind. Outputs with multipart uploads wait in
 * `completing` until the storage has completed them. `slots`: number of encodes that all nodes can run at the same
 * time.
 */
export function completeTask(state: JobState, taskId: string, result: TaskResult, now: number, slots = 1): JobState {
  const task = taskOf(state, taskId);
  switch (result.kind) {
    case "inspect":
      return completeInspect(
        endAttempt(state, task, { outcome: "completed" }, now),
        result.probe,
        { task, chunking: result.chunking, slots },
        now,
      );
    case "chunk": {
      const failure = chunkFailure(state, task, result);
      return failure ? failTask(state, taskId, failure, now) : acceptChunk(state, task, result, now);
    }
    case "audio": {
      const failure = audioFailure(task, result);
      if (failure) return failTask(state, taskId, failure, now);
      return moveTaskTo(acceptAudio(endAttempt(state, task, { outcome: "completed" }, now), result), taskId, "finish");
    }
    case "texts": {
      const failure = textsFailure(task, result);
      if (failure) return failTask(state, taskId, failure, now);
      return moveTaskTo(acceptTexts(endAttempt(state, task, { outcome: "completed" }, now), result), taskId, "finish");
    }
    case "join": {
      const { boundaries, outputs } = result;
      const failure = joinsEarly(state, task) ? NOT_ALL_JOINED : boundaryFailure(boundaries);
      if (failure) return failTask(state, taskId, failure, now);
      const joined = state.chunks ? { ...state, chunks: { ...state.chunks, boundaries } } : state;
      return completeOutputs(joined, taskId, outputs, now);
    }
    case "encode":
      return completeOutputs(state, taskId, result.outputs, now);
    default:
      return assertNever(result);
  }
}
