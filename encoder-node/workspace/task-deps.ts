// Dependencies of the work on a task.
import type { Agent } from "undici";
import type { Logger } from "#shared/log.ts";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import type { Capabilities } from "#shared/protocol/capabilities.ts";
import type { EncodingRate, LiveStream, TaskStage } from "#shared/protocol/frames.ts";
import type { OutputReport } from "#shared/protocol/reports.ts";
import type { ScratchAnswer, ScratchTrack } from "#shared/protocol/scratch.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";
import type { Tool } from "../ffmpeg/discover/locate.ts";
import type { NodeFolders } from "../folders/node-folders.ts";
import type { ScratchPut } from "../link/upload-requests.ts";
import type { ServiceAccess } from "../network/service-access.ts";
import type { SpeechEngine } from "../speech/engine.ts";
import type { TaskTrace } from "../tracing/task-trace.ts";
import type { StorageHold } from "../upload/retry-policy.ts";
import type { RequestUploads } from "../upload/upload.ts";
import type { CommandLog } from "./command-log.ts";
import type { RangedSources } from "./ranged-sources.ts";
import type { SourceCache } from "./source-cache.ts";

/** Dependencies that all tasks of a node share. */
export interface NodeDeps {
  readonly ffmpeg: Tool;
  readonly ffprobe: Tool;
  /** The abilities of this node's ffmpeg, as tested when the node started. */
  readonly capabilities: Capabilities;
  readonly sources: Pick<SourceCache, "acquire" | "open" | "clear">;
  readonly rangedSources: RangedSources;
  /** Limits the number of concurrent probes: a probe uses a processor, while a transfer only waits. */
  withProbeSlot<Value>(work: () => Promise<Value>): Promise<Value>;
  readonly workFolder: string;
  /** The operator's fonts; null: none. */
  readonly fontsFolder: string | null;
  /** Recognizes speech; null: the operator gave no model. */
  readonly speech: SpeechEngine | null;
  /** The operator's folders for sources and outputs. */
  readonly folders: NodeFolders;
  /** The agent for uploads, which connects to allowed addresses only. */
  readonly storages: Agent;
  /** The policy for clients' URLs. */
  readonly allowPrivate: AllowPrivate;
  /** Access for URLs that the service has signed for its own storages. */
  readonly service: Pick<ServiceAccess, "allow" | "storages">;
  readonly maxSourceBytes: number;
  readonly log: Logger;
}

/** Gives the slot of a task to others while it waits for tasks of other leases. */
export type WaitForOthers = {
  /**
   * Gives the slot back. False: the task keeps the slot, because too many tasks of this node wait, or the node stops.
   */
  begin(): boolean;
  /** The task has everything that it waited for. Until this call, a node that stops hands the task back. */
  end(): void;
};

/** Dependencies of the work on a lease. */
export interface TaskDeps extends NodeDeps {
  readonly assignment: Assignment;
  /** The policy for the URL of the task's source. */
  readonly allowSource: AllowPrivate;
  /** Aborts when the job no longer needs the work. */
  readonly signal: AbortSignal;
  progress(stage: TaskStage, fraction: number, rate?: EncodingRate): void;
  /** Reports that a stream of the task, or more of it, can be played. */
  playable(stream: LiveStream): void;
  /** The commands of ffmpeg that run for the lease, for its client. */
  readonly commands: CommandLog;
  readonly trace: TaskTrace;
  /** Call this when the task no longer needs an encoder and only uploads: its slot may then go to other work. */
  releaseSlot(): void;
  readonly waiting: WaitForOthers;
  /** Keeps finished outputs while their storage is unreachable. */
  readonly hold?: StorageHold;
  /** Reports outputs that have ended while the task continues; false when `complete` must include them. */
  report(outputs: OutputReport[]): Promise<boolean>;
  readonly requestUploads: RequestUploads;
  /**
   * Requests URLs to write and read objects of the job in the scratch bucket, in the order of the request; otherwise
   * like `requestUploads`.
   */
  requestScratch(puts: readonly ScratchPut[], gets: readonly string[]): Promise<ScratchAnswer>;
  /** Requests the tracks of the finished chunks from number `from` on; otherwise like `requestUploads`. */
  requestChunks(from: number): Promise<ScratchTrack[][]>;
}
