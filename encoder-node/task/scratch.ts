// Objects of a job in the scratch bucket, which its tasks on many nodes hand to each other.

import { AppError } from "#shared/errors.ts";
import { type LeaseId, parseLeaseId } from "#shared/ids.ts";
import { messageOf } from "#shared/log.ts";
import { scratchFolder } from "#shared/protocol/chunking.ts";
import { allOrNone } from "../async/in-parallel.ts";
import { untilAborted } from "../async/until-aborted.ts";
import type { Content } from "../upload/content.ts";
import { uploadContent } from "../upload/upload.ts";
import type { TaskDeps } from "./task-deps.ts";

export type ScratchDeps = Pick<TaskDeps, "askScratch" | "storages" | "signal">;

/** Files that are sent at a time. */
const PARALLEL = 4;

/** The name of an object that this grant alone writes. */
export function scratchName(lease: LeaseId, file: string): string {
  const parts = parseLeaseId(lease);
  if (!parts) throw new Error(`Not a lease id: ${lease}`);
  return scratchFolder(parts.task, parts.attempt) + file;
}

export type ScratchFile = { readonly name: string; readonly content: Content };

/**
 * Stores files; `onBytes` is told how much of all of them was sent. Throws AppError `node_failed` when that cannot be done:
 * the bucket is the operator's, so no client's storage is to blame. An abort rejects with the signal's reason.
 */
export async function putScratch(
  files: readonly ScratchFile[],
  deps: ScratchDeps,
  onBytes: (sentBytes: number) => void = () => undefined,
): Promise<void> {
  const { puts } = await sign(
    files.map(({ name, content: { sizeBytes } }) => ({ name, sizeBytes })),
    [],
    deps,
  );
  const sent = files.map(() => 0);
  await allOrNone([...files.entries()], PARALLEL, deps.signal, async ([at, { name, content }], signal) => {
    const part = puts[at];
    if (!part) throw new AppError("node_failed", "The control plane signed no request for a file");
    const onProgress = (bytes: number): void => {
      sent[at] = bytes;
      onBytes(sent.reduce((sum, each) => sum + each, 0));
    };
    const renew = async () => ({ parts: (await sign([{ name, sizeBytes: content.sizeBytes }], [], deps)).puts });
    const upload = { content, ticket: { parts: [part] }, renew, agent: deps.storages, signal, onProgress };
    await uploadContent(upload).catch((error: unknown) => {
      signal.throwIfAborted();
      throw notKept(error);
    });
  });
}

/** URLs to read objects at, in the order of the names; they live for 15 minutes. */
export async function scratchUrls(names: readonly string[], deps: ScratchDeps): Promise<string[]> {
  return (await sign([], names, deps)).gets;
}

async function sign(
  puts: Parameters<TaskDeps["askScratch"]>[0],
  gets: Parameters<TaskDeps["askScratch"]>[1],
  { askScratch, signal }: ScratchDeps,
) {
  const answer = await untilAborted(askScratch(puts, gets), signal);
  if ("failure" in answer) throw notKept(new AppError(answer.failure.code, answer.failure.message));
  return answer;
}

const notKept = (error: unknown): AppError =>
  new AppError("node_failed", `The scratch storage does not work: ${messageOf(error)}`, { cause: error });
