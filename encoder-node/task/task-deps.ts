// What the work on a task needs from its node.
import type { Agent } from "undici";
import { AppError } from "#shared/errors.ts";
import { parseLeaseId } from "#shared/ids.ts";
import type { Logger } from "#shared/log.ts";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import type {
  Assignment,
  Capabilities,
  OutputReport,
  ScratchAnswer,
  TaskStage,
  UploadsAnswer,
  UploadsRequest,
} from "#shared/protocol/protocol.ts";
import type { Tool } from "../ffmpeg/build/locate.ts";
import type { ScratchPut } from "../link/asks.ts";
import { fetchSource } from "../source/fetch/fetch-source.ts";
import type { RangedSources } from "./ranged-sources.ts";
import { type FetchTo, type HeldSource, type SourceCache, TURN_OVER } from "./source-cache.ts";

export interface NodeDeps {
  readonly ffmpeg: Tool;
  readonly ffprobe: Tool;
  /** What this ffmpeg was found to do when the node started. */
  readonly capabilities: Capabilities;
  readonly sources: SourceCache;
  readonly rangedSources: RangedSources;
  /** Has sources looked at, a few at a time: that takes a processor each, while their transfers only wait. */
  probing<Result>(work: () => Promise<Result>): Promise<Result>;
  readonly workFolder: string;
  /** What uploads go through: it reaches allowed addresses only. */
  readonly storages: Agent;
  readonly allowPrivate: AllowPrivate;
  readonly maxSourceBytes: number;
  readonly log: Logger;
}

/** The turn of one lease. */
export type Turn = {
  /** Aborts with TURN_OVER when others wait. */
  readonly over: AbortSignal;
  /** Says that the source comes slowly, and could be fetched on later: if others wait, the turn is over. */
  slow(): void;
};

/** The deps of one lease's work. */
export interface TaskDeps extends NodeDeps {
  readonly assignment: Assignment;
  /** Aborts when the job no longer wants the work. */
  readonly signal: AbortSignal;
  progress(stage: TaskStage, fraction: number): void;
  /** Whether others come first, as long as the task only waits for its source. */
  readonly turn: Turn;
  /** The task needs no encoder any more, only uploads are left: its slot may be given to other work. */
  encoded(): void;
  /** Reports outputs that have ended while the task goes on; false when `complete` must bring them. */
  report(outputs: OutputReport[]): Promise<boolean>;
  /** Asks for signed uploads, as long as it takes. Throws AppError(cancelled) when the lease is no longer ours. */
  askUploads(files: UploadsRequest["files"]): Promise<UploadsAnswer>;
  /** Likewise for objects of the job in the scratch bucket, to write and to read; answered in the order asked for. */
  askScratch(puts: readonly ScratchPut[], gets: readonly string[]): Promise<ScratchAnswer>;
}

/**
 * The job's source on this node's disk, fetched if need be, with progress. Throws what `fetchSource` throws, and AppError
 * `turn_over` when it came slowly and others wait; what has come of it is kept.
 */
export async function acquireSource(url: string, deps: TaskDeps): Promise<HeldSource> {
  const { assignment, allowPrivate: allow, maxSourceBytes: maxBytes, turn } = deps;
  const fetchTo: FetchTo = (destination, signal, onFetched, own) =>
    fetchSource({
      ...own,
      url,
      destination,
      allow,
      maxBytes,
      signal,
      onProgress: (received, total) => onFetched(total ? received / total : 0),
    });
  const tell = (fraction: number): void => deps.progress("transferring", fraction);
  tell(0);
  const signal = AbortSignal.any([deps.signal, turn.over]);
  try {
    return await deps.sources.acquire(roundKey(assignment), fetchTo, signal, tell, turn.slow);
  } catch (error) {
    if (signal.reason !== TURN_OVER) throw error;
    throw new AppError("turn_over", "The input comes slowly, and others wait for the node.", { cause: error });
  }
}

/** A job that is begun anew fetches its source anew: from the second round on, ids of tasks end in `-<round>`. */
function roundKey({ jobId, lease }: Pick<Assignment, "jobId" | "lease">): string {
  const [round = ""] = /-\d+$/.exec(parseLeaseId(lease)?.task ?? "") ?? [];
  return `${jobId}${round}`;
}
