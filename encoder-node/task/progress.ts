// The progress of all running leases, gathered into one frame per interval.
import type { LeaseId } from "#shared/ids.ts";
import type { ProgressItem, TaskStage } from "#shared/protocol/protocol.ts";

export interface ProgressBoard {
  /** Notes how far a lease is; `fraction` is 0 to 1 of its stage. */
  note(lease: LeaseId, token: string, stage: TaskStage, fraction: number): void;
  drop(lease: LeaseId): void;
  every(intervalMs: number): void;
  close(): void;
}

/** Unchanged progress is repeated this often, because it renews the lease. */
const REPEAT_AFTER_MS = 10_000;

type Noted = { item: ProgressItem; sent: ProgressItem | null; sentAt: number };

/** Gathers notes and sends what changed; a new lease or stage is sent at once. */
export function createProgressBoard(send: (items: ProgressItem[]) => void): ProgressBoard {
  const board = new Map<LeaseId, Noted>();
  const flush = (): void => {
    const now = Date.now();
    const due = [...board.values()].filter(
      ({ item, sent, sentAt }) => item !== sent || now - sentAt >= REPEAT_AFTER_MS,
    );
    for (const noted of due) Object.assign(noted, { sent: noted.item, sentAt: now });
    if (due.length > 0) send(due.map(({ item }) => item));
  };
  let timer = setInterval(flush, 1000);
  return {
    note(lease, token, stage, fraction) {
      const item = { lease, token, stage, fraction: Math.min(1, Math.max(0, fraction)) };
      const before = board.get(lease);
      if (before?.item.stage === stage && before.item.fraction === item.fraction) return;
      board.set(lease, { item, sent: before?.sent ?? null, sentAt: before?.sentAt ?? 0 });
      if (before?.item.stage !== stage) flush();
    },
    drop: (lease) => {
      board.delete(lease);
    },
    every(intervalMs) {
      clearInterval(timer);
      timer = setInterval(flush, intervalMs);
    },
    close: () => clearInterval(timer),
  };
}
