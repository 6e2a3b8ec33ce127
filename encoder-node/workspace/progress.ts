// Collects the progress of all running leases into one frame per interval.
import type { LeaseId } from "#shared/ids.ts";
import type { EncodingRate, LiveStream, ProgressItem, TaskStage } from "#shared/protocol/frames.ts";

export interface ProgressBoard {
  /** Sets the progress of a lease; `fraction`: 0 to 1 of its stage. */
  update(lease: LeaseId, token: string, stage: TaskStage, fraction: number, rate?: EncodingRate): void;
  /** Reports that a stream, or more of it, can be played. The lease must have progress. */
  playable(lease: LeaseId, stream: LiveStream): void;
  remove(lease: LeaseId): void;
  setIntervalMs(intervalMs: number): void;
  close(): void;
}

/** Unchanged progress is repeated after this time, because a progress frame renews the lease. */
const REPEAT_AFTER_MS = 10_000;

type Row = { item: ProgressItem; sent: ProgressItem | null; sentAt: number };

/** Sends the changed rows once per interval; a new lease or stage is sent at once. */
export function createProgressBoard(send: (items: ProgressItem[]) => void): ProgressBoard {
  const board = new Map<LeaseId, Row>();
  const flush = (): void => {
    const now = Date.now();
    const due = [...board.values()].filter(
      ({ item, sent, sentAt }) => item !== sent || now - sentAt >= REPEAT_AFTER_MS,
    );
    for (const row of due) Object.assign(row, { sent: row.item, sentAt: now });
    if (due.length > 0) send(due.map(({ item }) => item));
  };
  let timer = setInterval(flush, 1000);
  return {
    update(lease, token, stage, fraction, rate = {}) {
      const before = board.get(lease);
      const live = before?.item.live;
      const item = {
        lease,
        token,
        stage,
        fraction: Math.min(1, Math.max(0, fraction)),
        ...rate,
        ...(live && { live }),
      };
      if (before?.item.stage === stage && before.item.fraction === item.fraction) return;
      board.set(lease, { item, sent: before?.sent ?? null, sentAt: before?.sentAt ?? 0 });
      if (before?.item.stage !== stage) flush();
    },
    playable(lease, stream) {
      const row = board.get(lease);
      if (!row) return;
      const others = (row.item.live ?? []).filter(({ output }) => output !== stream.output);
      const isNew = others.length === (row.item.live ?? []).length;
      row.item = { ...row.item, live: [...others, stream] };
      if (isNew) flush();
    },
    remove: (lease) => {
      board.delete(lease);
    },
    setIntervalMs(intervalMs) {
      clearInterval(timer);
      timer = setInterval(flush, intervalMs);
    },
    close: () => clearInterval(timer),
  };
}
