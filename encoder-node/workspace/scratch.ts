// Objects of a job in the scratch bucket, through which its tasks on different nodes exchange files.
import { basename } from "node:path";
import { AppError } from "#shared/errors.ts";
import { type LeaseId, parseLeaseId } from "#shared/ids.ts";
import { messageOf } from "#shared/log.ts";
import { type ScratchAnswer, type ScratchTrack, type SignedScratch, scratchFolder } from "#shared/protocol/scratch.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";
import { mapLimitedOrAbort, untilAborted } from "../async/in-parallel.ts";
import { type Content, fileContent } from "../upload/content.ts";
import { uploadContent } from "../upload/upload.ts";
import type { TaskDeps } from "./task-deps.ts";

export type ScratchDeps = Pick<TaskDeps, "requestScratch" | "service" | "signal" | "log">;

/** Files that are sent at a time. */
const PARALLEL = 4;

/** Returns the name of an object that only this lease writes. */
export function scratchName(lease: LeaseId, file: string): string {
  const parts = parseLeaseId(lease);
  if (!parts) throw new Error(`Not a lease id: ${lease}`);
  return scratchFolder(parts.task, parts.attempt) + file;
}

type ScratchFile = { readonly name: string; readonly content: Content };

/**
 * Stores files; `onBytes` receives the total number of sent bytes. Throws AppError `node_failed` when a file cannot be
 * stored: the bucket is the operator's, so no client's storage is to blame. An abort rejects with the signal's reason.
 */
export async function putScratch(
  files: readonly ScratchFile[],
  deps: ScratchDeps,
  onBytes: (sentBytes: number) => void = () => undefined,
): Promise<void> {
  const { service, log } = deps;
  const requests = files.map(({ name, content: { sizeBytes } }) => ({ name, sizeBytes }));
  const { puts } = await sign({ puts: requests }, deps);
  const sent = files.map(() => 0);
  await mapLimitedOrAbort(files, PARALLEL, deps.signal, async ({ name, content }, index, signal) => {
    const part = puts[index];
    if (!part) throw new AppError("node_failed", "The control plane signed no request for a scratch object");
    const onProgress = (bytes: number): void => {
      sent[index] = bytes;
      onBytes(sent.reduce((sum, each) => sum + each, 0));
    };
    const renew = async () => ({ parts: (await sign({ puts: [{ name, sizeBytes: content.sizeBytes }] }, deps)).puts });
    const upload = { content, ticket: { parts: [part] }, renew, onProgress };
    await uploadContent(upload, { storages: service.storages, signal, log }).catch((error: unknown) => {
      signal.throwIfAborted();
      throw scratchFailure(error);
    });
  });
}

/** URLs to read objects, in the order of the names; valid for 15 minutes. */
export async function scratchUrls(names: readonly string[], deps: ScratchDeps): Promise<string[]> {
  return (await sign({ gets: names }, deps)).gets;
}

type Puts = Parameters<TaskDeps["requestScratch"]>[0];

async function sign(
  { puts = [], gets = [] }: { readonly puts?: Puts; readonly gets?: readonly string[] },
  { requestScratch, signal }: Pick<ScratchDeps, "requestScratch" | "signal">,
): Promise<Extract<ScratchAnswer, { puts: unknown }>> {
  const answer = await untilAborted(requestScratch(puts, gets), signal);
  if ("failure" in answer) throw scratchFailure(AppError.from(answer.failure));
  return answer;
}

const scratchFailure = (error: unknown): AppError =>
  new AppError("node_failed", `The scratch storage does not work: ${messageOf(error)}`, { cause: error });

// The encoded tracks of a chunked job's task.

/** A file with a whole track, or with a chunk of a track. */
export type EncodedTrack = {
  readonly output: number;
  readonly track: string;
  readonly path: string;
  /** Null for tracks that are not video. */
  readonly frames: number | null;
};

/**
 * Files get the names that were signed with the assignment. Further files keep their own names, below the lease's
 * folder. Reports progress of the stage `uploading`.
 */
export async function storeTracks(tracks: readonly EncodedTrack[], deps: TaskDeps): Promise<ScratchTrack[]> {
  const { lease } = deps.assignment;
  const names = presignedOf(deps.assignment)?.puts ?? [];
  const areNamed = names.length >= tracks.length;
  const files = await Promise.all(
    tracks.map(async ({ path }, at) => {
      const name = (areNamed ? names[at]?.name : undefined) ?? scratchName(lease, basename(path));
      return { name, content: await fileContent(path) };
    }),
  );
  const totalBytes = files.reduce((sum, { content }) => sum + content.sizeBytes, 0);
  deps.progress("uploading", 0);
  const onBytes = (bytes: number): void => deps.progress("uploading", bytes / Math.max(1, totalBytes));
  await deps.trace.step("upload", () => putScratch(files, deps, onBytes), { "copra.bytes": totalBytes });
  return tracks.flatMap(({ output, track, frames }, at) => {
    const file = files[at];
    return file ? [{ output, track, name: file.name, sizeBytes: file.content.sizeBytes, frames }] : [];
  });
}

// The URLs of scratch objects that came with an assignment. Other URLs are requested.

/** Signatures are valid for 15 minutes after the assignment was made. */
const USED_FOR_MS = 10 * 60_000;

type RequestScratch = TaskDeps["requestScratch"];

const presignedOf = ({ task }: Assignment): SignedScratch | null => ("signed" in task && task.signed) || null;

/**
 * Answers with the URLs that were signed with the assignment. Each URL is used once: a repeated request means that it
 * failed.
 */
export function usePresignedScratch(assignment: Assignment, request: RequestScratch, now = Date.now): RequestScratch {
  const signed = presignedOf(assignment);
  if (!signed) return request;
  const until = now() + USED_FOR_MS;
  const puts = new Map(signed.puts.map(({ name, url }) => [name, url]));
  const gets = new Map(signed.gets.map(({ name, url }) => [name, url]));
  return async (wantedPuts, wantedGets): Promise<ScratchAnswer> => {
    const isSigned = wantedPuts.every(({ name }) => puts.has(name)) && wantedGets.every((name) => gets.has(name));
    if (!isSigned || now() > until) return request(wantedPuts, wantedGets);
    const take = (urls: Map<string, string>, name: string): string => {
      const url = urls.get(name) ?? "";
      urls.delete(name);
      return url;
    };
    return {
      puts: wantedPuts.map(({ name, sizeBytes }) => ({ url: take(puts, name), headers: {}, offset: 0, sizeBytes })),
      gets: wantedGets.map((name) => take(gets, name)),
    };
  };
}
