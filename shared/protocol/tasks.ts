// Tasks: the units of a job's work that the control plane assigns to nodes.
import * as z from "zod";
import { isJobId } from "../ids.ts";
import { Clip } from "../job/clip.ts";
import { OutputSpec } from "../job/output-spec.ts";
import { MediaProbe } from "../media/media-probe.ts";
import { TraceContext } from "../network/trace-context.ts";
import { MAX_SLOTS } from "../report-limits.ts";
import { ChunkSpan } from "./chunks.ts";
import { LeaseProof } from "./leases.ts";
import { RangedSource, ScratchTrack, SignedScratch } from "./scratch.ts";
import { OutputIndex } from "./uploads.ts";

/** Classes of slots: inspecting is light and mostly waits for the network, encoding uses a whole machine. */
export const SLOT_CLASSES = ["inspect", "encode"] as const;
export type SlotClass = (typeof SLOT_CLASSES)[number];

const Slots = z.int().min(0).max(MAX_SLOTS);
export const SlotCounts = z.object({ inspect: Slots, encode: Slots });
export type SlotCounts = z.infer<typeof SlotCounts>;

export const TASK_KINDS = ["inspect", "encode", "chunk", "audio", "texts", "join"] as const;
export type TaskKind = (typeof TASK_KINDS)[number];

/** Where the source is. `sourceHeaders`: secret headers for the origin of the URL. */
const locatedSource = { sourceUrl: z.string(), sourceHeaders: z.record(z.string(), z.string()).exactOptional() };
const LocatedSource = z.object(locatedSource);
export type LocatedSource = z.infer<typeof LocatedSource>;

/** Fields of tasks that read a range of the source. */
const rangedTask = {
  ...locatedSource,
  source: RangedSource,
  probe: MediaProbe,
  outputs: z.array(OutputSpec),
  signed: SignedScratch.exactOptional(),
};

/** The text of the source that the outputs show, a file for each track; absent: they show none. */
const texts = z.array(ScratchTrack).exactOptional();

export const Task = z.discriminatedUnion("kind", [
  /**
   * Fetch the source and probe it. With `chunking`, also find the possible split points and copy the source to the
   * scratch bucket. The copy is not needed if `readOrigin` allows nodes to read the source in place and its host
   * supports range requests. `clip`: only this part is split. `onlyProbe`: no task follows, so the node need not fetch the whole source if its header is
   * enough. `storesAt`: the `folder://` URL of an output, where the node checks that it can store files.
   */
  z.object({
    kind: z.literal("inspect"),
    ...locatedSource,
    chunking: z.object({ readOrigin: z.boolean(), clip: Clip.exactOptional() }).nullable(),
    onlyProbe: z.boolean().exactOptional(),
    storesAt: z.string().exactOptional(),
  }),
  /** Make outputs of a source with a single decode, and upload them. */
  z.object({ kind: z.literal("encode"), ...locatedSource, probe: MediaProbe, outputs: z.array(OutputSpec) }),
  /** Encode the frames of a chunk for all these outputs, with a single decode, into the scratch bucket. */
  z.object({
    kind: z.literal("chunk"),
    ...rangedTask,
    chunk: ChunkSpan,
    /** The `encoder` that the chunk's result must name. Null before the first chunk of the source is done. */
    encoder: z.string().nullable(),
    texts,
  }),
  /** Encode the audio of these outputs as a whole into the scratch bucket. */
  z.object({ kind: z.literal("audio"), ...rangedTask }),
  /** Read the text of the source that these outputs show into the scratch bucket. */
  z.object({ kind: z.literal("texts"), ...rangedTask }),
  /**
   * Join the chunks, add the audio, and upload the outputs. A chunk that is still encoded has no tracks; the node
   * requests them later (`ChunksRequest`).
   */
  z.object({
    kind: z.literal("join"),
    probe: MediaProbe,
    outputs: z.array(OutputSpec),
    /** In time order. */
    chunks: z.array(z.object({ range: ChunkSpan, tracks: z.array(ScratchTrack) })),
    audio: z.array(ScratchTrack),
    texts,
  }),
]);
export type Task = z.infer<typeof Task>;
export type TaskOf<Kind extends TaskKind> = Extract<Task, { kind: Kind }>;

/** Returns the class of slot that a task takes. */
export const slotClassOf = ({ kind }: { kind: TaskKind }): SlotClass => (kind === "inspect" ? "inspect" : "encode");

/** Properties of a task for the hub and for a node's slots and caches. No code parses them from a task's id. */
export const Assigned = z.object({
  kind: z.enum(TASK_KINDS),
  slotClass: z.enum(SLOT_CLASSES),
  /** Number of retries by the client, from 0. A new round fetches the source again. */
  round: z.int().min(0),
});
export type Assigned = z.infer<typeof Assigned>;

/** A lease that a node reports as running, with the class of the slot that it takes. */
export const RunningLease = LeaseProof.extend({ slotClass: z.enum(SLOT_CLASSES) });
export type RunningLease = z.infer<typeof RunningLease>;

/** A playlist or manifest of a stream, where players read it. */
const PublicPlaylist = z.object({ output: OutputIndex, format: z.enum(["hls", "dash"]), url: z.string() });
export type PublicPlaylist = z.infer<typeof PublicPlaylist>;

/** A task, leased to a node. */
export const Assignment = z.object({
  ...LeaseProof.shape,
  ...Assigned.shape,
  jobId: z.string().refine(isJobId, "not a job id"),
  task: Task,
  /**
   * URLs of the task that the service has signed for its own origins. Only these may lead to the origins in `welcome`,
   * and URLs of scratch objects always may.
   */
  ownUrls: z
    .array(z.enum(["source", "storage"]))
    .max(2)
    .exactOptional(),
  /** The playlists of the task's streams in a bucket; the node reads them after storing them. */
  playlists: z.array(PublicPlaylist).exactOptional(),
  /** The trace of the job. */
  trace: TraceContext.exactOptional(),
});
export type Assignment = z.infer<typeof Assignment>;
