// The URLs of scratch objects that came with an assignment. Other URLs are requested.
import type { ScratchAnswer, SignedScratch } from "#shared/protocol/scratch.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";
import type { TaskDeps } from "./task-deps.ts";

/** Signatures are valid for 15 minutes after the assignment was made. */
const USED_FOR_MS = 10 * 60_000;

type RequestScratch = TaskDeps["requestScratch"];

export const presignedOf = ({ task }: Assignment): SignedScratch | null => ("signed" in task && task.signed) || null;

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
