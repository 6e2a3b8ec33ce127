// The task that a node receives. It never contains a secret of the client's storage.
import { assertNever } from "#shared/errors.ts";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import type { LocatedSource, Task } from "#shared/protocol/tasks.ts";
import { storedFolderUrl } from "../../storage/folder-store.ts";
import { activeWork, rangesOf, tracksOf } from "../chunks/chunk-work.ts";
import { withoutSimilar } from "../chunks/drop-similar-variants.ts";
import type { TaskSecrets } from "../secrets/task-secrets.ts";
import type { ChunkWork } from "../state/chunk-state.ts";
import type { JobState } from "../state/job-state.ts";
import type { TaskState } from "../state/task-state.ts";
import { sampleFile } from "./storage-check.ts";

/** A task in the form that a node receives. Throws if the state lacks data that the task needs, which is a bug. */
export function taskFor(state: JobState, task: TaskState, secrets: TaskSecrets): Task {
  const { streamKeys, chunking } = secrets;
  const { probe } = state.input;
  const specs = state.spec.outputs.filter(({ index }) => task.outputs.includes(index));
  if (task.kind === "inspect") {
    const { isProbe: onlyProbe } = state.spec;
    const clip = state.spec.outputs[0]?.clip;
    const requested = {
      chunking: chunking && { readOrigin: chunking.readOrigin, ...(clip ? { clip } : {}) },
      ...(onlyProbe ? { onlyProbe } : {}),
      ...checked(state),
    };
    return { kind: "inspect", ...located(secrets), ...requested };
  }
  if (!probe) throw new Error(`The source's probe is missing for the task ${task.kind}`);
  const outputs = specs.map((spec) => withStreamKey(spec, streamKeys));
  switch (task.kind) {
    case "encode":
      return { kind: "encode", ...located(secrets), probe, outputs };
    case "chunk": {
      const { source, encoder, texts, ...work } = workOf(state);
      const chunk = rangesOf(work)[task.chunk ?? -1];
      if (!chunk) throw new Error(`The job has no chunk ${task.chunk}`);
      const read = texts ? { texts } : {};
      return { kind: "chunk", ...located(secrets), source, probe, outputs: specs, chunk, encoder, ...read };
    }
    case "audio":
    case "texts":
      return { kind: task.kind, ...located(secrets), source: workOf(state).source, probe, outputs: specs };
    case "join":
      return { kind: "join", probe, outputs: outputs.map(joined(state, probe)), ...tracksToJoin(state, task) };
    default:
      return assertNever(task.kind);
  }
}

/** The service cannot check a folder, unlike other storages (storage-check.ts). */
function checked(state: JobState): { storesAt?: string } {
  const { storage } = state.spec;
  const file = sampleFile(state);
  return storage.kind === "folder" && file ? { storesAt: storedFolderUrl(storage, file.objectName) } : {};
}

const located = ({ sourceUrl, sourceHeaders }: TaskSecrets): LocatedSource => ({
  sourceUrl,
  ...(sourceHeaders ? { sourceHeaders } : {}),
});

const joined =
  (state: JobState, probe: MediaProbe) =>
  (spec: OutputSpec): OutputSpec =>
    withoutSimilar(state, { work: workOf(state), probe }, spec);

function workOf(state: JobState): ChunkWork {
  const work = activeWork(state);
  if (!work) throw new Error("The job is not encoded in chunks");
  return work;
}

/** The chunks and the audio of a task's outputs. Chunks that are still encoded have no tracks. */
function tracksToJoin(state: JobState, { outputs }: TaskState) {
  const work = workOf(state);
  const chunks = rangesOf(work).map((range) => {
    const result = state.chunkResults[range.index];
    return { range, tracks: result ? tracksOf(work, result, outputs) : [] };
  });
  const texts = work.texts ? { texts: work.texts } : {};
  return { chunks, ...texts, audio: (work.audio ?? []).filter(({ output }) => outputs.includes(output)) };
}

/** Adds its key to a stream that is to be encrypted. Throws if there is no key. */
function withStreamKey(spec: OutputSpec, keys: TaskSecrets["streamKeys"]): OutputSpec {
  if (spec.type !== "httpstream" || !spec.encryption) return spec;
  const key = keys.get(spec.index);
  if (key === undefined) throw new Error(`The key of the stream ${spec.key} is missing`);
  return { ...spec, encryption: { ...spec.encryption, key } };
}
