// What a node is told of a task: never a secret of the client's storage.
import { assertNever } from "#shared/errors.ts";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import type { Task } from "#shared/protocol/protocol.ts";
import { activeWork, rangesOf, tracksOf } from "./chunks/chunk-work.ts";
import type { ChunkWork } from "./state/chunk-state.ts";
import type { JobState, TaskState } from "./state/job-state.ts";

export type TaskSecrets = {
  /** Where the node is to get the source from; it may hold a signature. */
  readonly sourceUrl: string;
  /** In hexadecimal, of the streams that are to be encrypted, by the index of their output. */
  readonly streamKeys: ReadonlyMap<number, string>;
  /** How a film is to be looked at that may be cut into chunks; null: it will not be. */
  readonly chunking: { readonly readOrigin: boolean; readonly keepMs: number } | null;
};

export function taskFor(state: JobState, task: TaskState, { sourceUrl, streamKeys, chunking }: TaskSecrets): Task {
  const { probe } = state.input;
  const specs = state.spec.outputs.filter(({ index }) => task.outputs.includes(index));
  if (task.kind === "inspect") {
    return { kind: "inspect", sourceUrl, chunking: chunking && { readOrigin: chunking.readOrigin } };
  }
  if (!probe) throw new Error(`To ${task.kind} needs the source's probe`);
  const outputs = specs.map((spec) => withStreamKey(spec, streamKeys));
  switch (task.kind) {
    case "encode":
      return { kind: "encode", sourceUrl, probe, outputs };
    case "chunk": {
      const { source, encoder, ...work } = workOf(state);
      const chunk = rangesOf(work)[task.chunk ?? -1];
      if (!chunk) throw new Error(`No chunk ${task.chunk}`);
      return { kind: "chunk", sourceUrl, source, probe, outputs: specs, chunk, encoder };
    }
    case "sound":
      return { kind: "sound", sourceUrl, source: workOf(state).source, probe, outputs: specs };
    case "join":
      return { kind: "join", probe, outputs, ...partsOf(state, task) };
    default:
      return assertNever(task.kind);
  }
}

function workOf(state: JobState): ChunkWork {
  const work = activeWork(state);
  if (!work) throw new Error("The film is not made of chunks");
  return work;
}

/** What is to be joined for the outputs of a task. */
function partsOf(state: JobState, { outputs }: TaskState) {
  const work = workOf(state);
  const chunks = rangesOf(work).map((range) => {
    const result = state.chunkResults[range.index];
    if (!result) throw new Error(`Chunk ${range.index} is missing`);
    return { range, tracks: tracksOf(work, result, outputs) };
  });
  return { chunks, sound: (work.sound ?? []).filter(({ output }) => outputs.includes(output)) };
}

/** A stream that is to be encrypted, with its key. Throws when there is none. */
function withStreamKey(spec: OutputSpec, keys: TaskSecrets["streamKeys"]): OutputSpec {
  if (spec.type !== "httpstream" || !spec.encryption) return spec;
  const key = keys.get(spec.index);
  if (key === undefined) throw new Error(`The key of the stream ${spec.key} is missing`);
  return { ...spec, encryption: { ...spec.encryption, key } };
}
