// A turn with a job object that still runs the previous release: its calls, one after the other.
import type { JobStub } from "./job.ts";
import type { Turn, TurnAnswer } from "./turn.ts";

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
