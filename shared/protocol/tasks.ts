// Tasks: the units of a job's work that the control plane assigns to nodes.
import * as z from "zod";
import { isJobId } from "../ids.ts";
import { OutputSpec } from "../job/output-spec.ts";
import { MediaProbe } from "../media/media-probe.ts";
import { TraceContext } from "../network/trace-context.ts";
import { MAX_SLOTS } from "../report-limits.ts";
import { ChunkSpan } from "./chunks.ts";
import { LeaseProof } from "./leases.ts";
import { RangedSource, ScratchTrack, SignedScratch } from "./scratch.ts";

/** Classes of slots: inspecting is light and mostly waits for the network, encoding uses a whole machine. */
export const SLOT_CLASSES = ["inspect", "encode"] as const;
export type SlotClass = (typeof SLOT_CLASSES)[number];

const Slots = z.int().min(0).max(MAX_SLOTS);
export const SlotCounts = z.object({ inspect: Slots, encode: Slots });
export type SlotCounts = z.infer<typeof SlotCounts>;

/** What nodes can do that those of earlier releases cannot: they state it when they connect. */
export const NODE_FEATURES = ["growing-join"] as const;
export type NodeFeature = (typeof NODE_FEATURES)[number];

export const TASK_KINDS = ["inspect", "encode", "chunk", "audio", "join"] as const;
export type TaskKind = (typeof TASK_KINDS)[number];

/** Fields of tasks that read a range of the source. */
const rangedTask = {
  sourceUrl: z.string(),
  source: RangedSource,
  probe: MediaProbe,
  outputs: z.array(OutputSpec),
  signed: SignedScratch.exactOptional(),
};

export const Task = z.discriminatedUnion("kind", [
  /**
   * Fetch the source and probe it. With `chunking`, also find the possible split points and copy the source to the
   * scratch bucket, unless `readOrigin` allows nodes to read it in place and its host supports range requests.
   * `onlyProbe`: no task follows, so that the source need not be fetched where its header is enough.
   */
  z.object({
    kind: z.literal("inspect"),
    sourceUrl: z.string(),
    chunking: z.object({ readOrigin: z.boolean() }).nullable().default(null),
    onlyProbe: z.boolean().exactOptional(),
  }),
  /** Make outputs of one source with one decode, and upload them. */
  z.object({ kind: z.literal("encode"), sourceUrl: z.string(), probe: MediaProbe, outputs: z.array(OutputSpec) }),
  /** Encode the frames of one chunk for all these outputs, with one decode, into the scratch bucket. */
  z.object({
    kind: z.literal("chunk"),
    ...rangedTask,
    chunk: ChunkSpan,
    /** The `encoder` that the chunk's result must name; null while no chunk of the source is done. */
    encoder: z.string().nullable(),
  }),
  /** Encode the audio of these outputs as a whole into the scratch bucket. */
  z.object({ kind: z.literal("audio"), ...rangedTask }),
  /**
   * Join the chunks, add the audio, and upload the outputs. A chunk that is still encoded has no tracks: its node asks
   * for them (`ChunksRequest`). Only nodes with the feature `growing-join` get such a task; another one would fail it.
   */
  z.object({
    kind: z.literal("join"),
    probe: MediaProbe,
    outputs: z.array(OutputSpec),
    /** In time order. */
    chunks: z.array(z.object({ range: ChunkSpan, tracks: z.array(ScratchTrack) })),
    audio: z.array(ScratchTrack),
  }),
]);
export type Task = z.infer<typeof Task>;
export type TaskOf<Kind extends TaskKind> = Extract<Task, { kind: Kind }>;

/** The class of slot that a task takes. */
export const slotClassOf = ({ kind }: { kind: TaskKind }): SlotClass => (kind === "inspect" ? "inspect" : "encode");

/** What a task is to the hub and to the slots and caches of a node. Nobody parses it out of a task's id. */
export const Assigned = z.object({
  kind: z.enum(TASK_KINDS),
  slotClass: z.enum(SLOT_CLASSES),
  /**
   * How often the job was started: 0, and one more for each retry by the client. A new round fetches the source again.
   */
  round: z.int().min(0),
});
export type Assigned = z.infer<typeof Assigned>;

/** A lease that a node reports as running, with the class of the slot that it takes. */
export const RunningLease = LeaseProof.extend({ slotClass: z.enum(SLOT_CLASSES) });
export type RunningLease = z.infer<typeof RunningLease>;

/** A task, leased to one node. */
export const Assignment = z.object({
  ...LeaseProof.shape,
  ...Assigned.shape,
  jobId: z.string().refine(isJobId, "not a job id"),
  task: Task,
  /**
   * Which URLs of the task the service has signed for its own origins: only these may lead to the origins in `welcome`.
   * Those of scratch objects always do.
   */
  ownUrls: z
    .array(z.enum(["source", "storage"]))
    .max(2)
    .exactOptional(),
  /** The trace of the job; older nodes ignore it. */
  trace: TraceContext.exactOptional(),
});
export type Assignment = z.infer<typeof Assignment>;
