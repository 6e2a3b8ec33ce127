// Calls of objects that still run the previous release.
import { messageOf } from "#shared/log.ts";
import type { JobStub } from "./job.ts";
import type { Turn, TurnAnswer } from "./turn.ts";

/** Whether an object runs the previous release, which has no such method (workerd's message). */
export const isUnknownMethod = (error: unknown): boolean => /does not implement the method/.test(messageOf(error));

/** A turn with a job of the previous release: its calls, one after the other. */
export async function previousTurn(
  job: JobStub,
  { done = [], alive, progress, lost, want }: Turn,
): Promise<TurnAnswer> {
  for (const { session } of lost) await job.suspect(session);
  const dropped = progress.length > 0 ? await job.progress([...progress]) : [];
  const renewed = alive.length > 0 ? await job.renew([...alive]) : { accountId: null, dropped: [] };
  const assigned: TurnAnswer["assigned"][number][] = [];
  for (const request of want) assigned.push(await job.claim(request));
  // Nodes repeat their reports by POST.
  const acks = done.map(() => null);
  return { acks, accountId: renewed.accountId, assigned, cancel: [...dropped, ...renewed.dropped], watchUntil: 0 };
}
