// Everything that control plane and nodes say to each other: frames on the socket, tasks, and reports over HTTP.
import * as z from "zod";
import { type ErrorCode, isErrorCode } from "../errors.ts";
import { isJobId, type LeaseId, parseLeaseId } from "../ids.ts";
import { OutputSpec } from "../job/output-spec.ts";
import { MediaProbe } from "../media/media-probe.ts";
import { HARDWARE_NAMES } from "../plan/encoders/hardware.ts";
import {
  MAX_ETAG_CHARS,
  MAX_FILE_BYTES,
  MAX_FILE_NUMBER,
  MAX_LEASES,
  MAX_LENGTH_MS,
  MAX_NAME_CHARS,
  MAX_NAMES,
  MAX_OUTPUT_INDEX,
  MAX_PARTS,
  MAX_SLOTS,
  MAX_TRACKS,
} from "../report-limits.ts";
import { ChunkSpan } from "./chunk-span.ts";
import { Chunking, RangedSource, ScratchName, ScratchTrack, SeamReceipt } from "./chunking.ts";
import { DevicePath, EncoderNames, Line, PartName } from "./reported-text.ts";

export const PROTOCOL_VERSION = 2;
const MAX_PROTOCOL = 1_000_000;
const MAX_CPUS = 100_000;
/** Text that a node sends to keep its socket alive, and what the hub's runtime answers without waking the hub. */
export const PING = "ping";
export const PONG = "pong";

/** How long a lease lives without a sign of life from its node. */
export const LEASE_MS = 45_000;
/** How long a fresh lease waits for its first sign of life: an assign frame may have been lost on its way. */
export const OFFER_MS = 20_000;

/** Classes of slots: inspecting is light and mostly waits for the network, encoding fills a machine. */
export const SLOT_CLASSES = ["inspect", "encode"] as const;
export type SlotClass = (typeof SLOT_CLASSES)[number];
const Slots = z.int().min(0).max(MAX_SLOTS);
export const SlotCounts = z.object({ inspect: Slots, encode: Slots });
export type SlotCounts = z.infer<typeof SlotCounts>;

export const LeaseIdText = z.custom<LeaseId>((value) => typeof value === "string" && parseLeaseId(value) !== null, {
  error: "not a lease id",
});
export const ErrorCodeText = z.custom<ErrorCode>((value) => typeof value === "string" && isErrorCode(value), {
  error: "not an error code",
});
export const FailureReport = z.object({ code: ErrorCodeText, message: z.string().min(1).max(2000) });

/** Proof that a report speaks for the grant it names. */
const leaseProof = { lease: LeaseIdText, token: z.string().min(1).max(100) };
export const LeaseProof = z.object(leaseProof);
export type LeaseProof = z.infer<typeof LeaseProof>;

// ── Tasks ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Of tasks that read a part of the source by ranges. */
const rangedTask = { sourceUrl: z.string(), source: RangedSource, probe: MediaProbe, outputs: z.array(OutputSpec) };

export const Task = z.discriminatedUnion("kind", [
  /**
   * Fetch the source and probe it. With `chunking` also find out where it can be cut, and bring it to the scratch bucket,
   * unless `readOrigin` allows to read it where it is and its host answers range requests.
   */
  z.object({
    kind: z.literal("inspect"),
    sourceUrl: z.string(),
    chunking: z.object({ readOrigin: z.boolean() }).nullable().default(null),
  }),
  /** Make outputs of one source with one decode, and upload them. */
  z.object({ kind: z.literal("encode"), sourceUrl: z.string(), probe: MediaProbe, outputs: z.array(OutputSpec) }),
  /** Encode the pictures of one part of the film for all these outputs, with one decode, to the scratch bucket. */
  z.object({
    kind: z.literal("chunk"),
    ...rangedTask,
    chunk: ChunkSpan,
    /** What the chunk's result must name as its `encoder`; null while no chunk of the film is done. */
    encoder: z.string().nullable(),
  }),
  /** Encode the sound of these outputs, whole, to the scratch bucket. */
  z.object({ kind: z.literal("sound"), ...rangedTask }),
  /** Join the chunks, add the sound, and upload the outputs. */
  z.object({
    kind: z.literal("join"),
    probe: MediaProbe,
    outputs: z.array(OutputSpec),
    /** In order of time. */
    chunks: z.array(z.object({ range: ChunkSpan, tracks: z.array(ScratchTrack) })),
    sound: z.array(ScratchTrack),
  }),
]);
export type Task = z.infer<typeof Task>;
/** The class of slot that a task takes. */
export const slotClassOf = ({ kind }: { kind: Task["kind"] }): SlotClass => (kind === "inspect" ? "inspect" : "encode");
export type TaskOf<Kind extends Task["kind"]> = Extract<Task, { kind: Kind }>;

export const Assignment = z.object({ ...leaseProof, jobId: z.string().refine(isJobId, "not a job id"), task: Task });
export type Assignment = z.infer<typeof Assignment>;

// ── Frames ─────────────────────────────────────────────────────────────────────────────────────────────────────────

const Names = z.array(PartName).max(MAX_NAMES);

/** Hardware that a node encodes with. */
export const Hardware = z.object({
  name: z.enum(HARDWARE_NAMES),
  /** Its DRM render node; null where there is nothing to choose. */
  path: DevicePath.nullable(),
  /** By ffmpeg's names, such as `h264_nvenc`: each has encoded a frame, or exists and had no session left. */
  encoders: Names,
});
export type Hardware = z.infer<typeof Hardware>;

/** What a node keeps its runs of ffmpeg from: all, all but `missing`, or nothing. */
export const NodeIsolation = z.object({
  level: z.enum(["full", "partial", "none"]),
  missing: z.array(z.enum(["files", "processes", "privileges", "network", "limits"])).max(5),
});
export type NodeIsolation = z.infer<typeof NodeIsolation>;

/** What a node's ffmpeg really does, by ffmpeg's names. Nodes that are older than a member do not send it. */
export const Capabilities = z.object({
  ffmpegVersion: Line(MAX_NAME_CHARS),
  /** Software encoders, each of which has encoded a frame. */
  encoders: Names,
  cpus: z.int().min(0).max(MAX_CPUS),
  /** Those that plans use and this ffmpeg has; likewise `muxers`. */
  filters: Names.default([]),
  muxers: Names.default([]),
  hardware: Hardware.nullable().default(null),
  /** Ids of published vulnerabilities that the versions of its ffmpeg and ffprobe are known to have. */
  vulnerabilities: z.array(z.string().max(40)).max(50).exactOptional(),
  isolation: NodeIsolation.exactOptional(),
});
export type Capabilities = z.infer<typeof Capabilities>;

export const TASK_STAGES = ["transferring", "encoding", "uploading"] as const;
export type TaskStage = (typeof TASK_STAGES)[number];

export const ProgressItem = z.object({
  ...leaseProof,
  stage: z.enum(TASK_STAGES),
  /** Share of the stage that is done, 0 to 1. */
  fraction: z.number().min(0).max(1),
});
export type ProgressItem = z.infer<typeof ProgressItem>;

export const NodeFrame = z.discriminatedUnion("type", [
  /** First on every connection. `slots` are the free ones; `running` is all this process still works on. */
  z.object({
    type: z.literal("hello"),
    protocol: z.int().min(0).max(MAX_PROTOCOL),
    nodeId: Line(64).min(1),
    /** New with every start of the node's process. */
    session: Line(64).min(1),
    capabilities: Capabilities,
    slots: SlotCounts,
    running: z.array(LeaseProof).max(MAX_LEASES),
  }),
  /**
   * Grants further slots (increments, so that crossing frames cannot miscount; an assign frame uses one up) and names
   * the leases that no longer run.
   */
  z.object({ type: z.literal("slots"), grant: SlotCounts, released: z.array(LeaseIdText).max(MAX_LEASES) }),
  /** Lossy; also renews the leases it names. */
  z.object({ type: z.literal("progress"), items: z.array(ProgressItem).max(MAX_LEASES) }),
  /**
   * The source of this lease comes slowly, and has for long; what has come can be kept. The hub answers `yield` if others
   * wait for a slot of its class, else nothing.
   */
  z.object({ type: z.literal("slow"), lease: LeaseIdText }),
  /** The node drains: it wants no more work on this connection. */
  z.object({ type: z.literal("bye") }),
]);
export type NodeFrame = z.infer<typeof NodeFrame>;
export type NodeFrameOf<Type extends NodeFrame["type"]> = Extract<NodeFrame, { type: Type }>;

export const HubFrame = z.discriminatedUnion("type", [
  z.object({ type: z.literal("welcome"), protocol: z.int(), progressEveryMs: z.int().min(100) }),
  z.object({ type: z.literal("assign"), assignment: Assignment }),
  /** The job no longer wants this grant's work: stop it and forget it. */
  z.object({ type: z.literal("cancel"), lease: LeaseIdText }),
  /** Others wait: give this lease back (`turn_over`), and keep what has come of its source. */
  z.object({ type: z.literal("yield"), lease: LeaseIdText }),
  /** Finish what runs, take nothing new. */
  z.object({ type: z.literal("drain") }),
]);
export type HubFrame = z.infer<typeof HubFrame>;

export type Decoded<Frame> =
  | { ok: true; frame: Frame }
  /** Unknown types are skipped, so that a newer peer can say more; invalid frames close the socket. */
  | { ok: false; reason: "unknown-type" | "invalid"; detail: string };

const NODE_FRAME_TYPES: ReadonlySet<unknown> = new Set(NodeFrame.options.map((option) => option.shape.type.value));
const HUB_FRAME_TYPES: ReadonlySet<unknown> = new Set(HubFrame.options.map((option) => option.shape.type.value));

export const decodeNodeFrame = (text: string): Decoded<NodeFrame> => decode(text, NodeFrame, NODE_FRAME_TYPES);
export const decodeHubFrame = (text: string): Decoded<HubFrame> => decode(text, HubFrame, HUB_FRAME_TYPES);

function decode<Frame>(text: string, schema: z.ZodType<Frame>, types: ReadonlySet<unknown>): Decoded<Frame> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, reason: "invalid", detail: "not JSON" };
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, frame: parsed.data };
  const type = typeof value === "object" && value !== null && "type" in value ? value.type : undefined;
  if (typeof type === "string" && !types.has(type)) return { ok: false, reason: "unknown-type", detail: type };
  return { ok: false, reason: "invalid", detail: z.prettifyError(parsed.error) };
}

// ── Reports: POST /v2/nodes/leases/:lease/{uploads,scratch,outputs,complete,fail} ──────────────────────────────────────────────────

/**
 * Names a file of an output within one grant, beside the output's index: by its ordinal, from 1; in a stream, which has
 * thousands, by its package and its path below that package's folder, such as `dash/master.mpd` or
 * `hls/<stream folder>/1080p/00001.ts` (see stream-files.ts).
 */
export const FileName = z.union([z.int().min(1).max(MAX_FILE_NUMBER), Line(300).min(1)]);
export type FileName = z.infer<typeof FileName>;

/** `OutputSpec.index`. */
const OutputIndex = z.int().min(0).max(MAX_OUTPUT_INDEX);
const FileSize = z.int().min(0).max(MAX_FILE_BYTES);
const ofFile = { output: OutputIndex, file: FileName };

export const UploadsRequest = z.object({
  token: LeaseProof.shape.token,
  files: z
    .array(z.object({ ...ofFile, sizeBytes: FileSize }))
    .min(1)
    .max(200),
});
export type UploadsRequest = z.infer<typeof UploadsRequest>;

/** The plain fields that a form may have beside its file, and the characters of each. */
const MAX_FORM_FIELDS = 10;
const MAX_FORM_VALUE = 300;

/** A multipart/form-data body: the field with the file in it, and plain fields, which are sent before the file. */
export const UploadForm = z.object({
  name: z.string(),
  fileName: z.string(),
  contentType: z.string(),
  fields: z
    .array(z.object({ name: z.string().max(100), value: z.string().max(MAX_FORM_VALUE) }))
    .max(MAX_FORM_FIELDS)
    .default([]),
});
export type UploadForm = z.infer<typeof UploadForm>;

/** One signed request that stores one range of the file: a PUT of its bytes, or a POST of a form with them in it. */
export const UploadPart = z.object({
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  offset: z.int().min(0),
  sizeBytes: z.int().min(0),
  form: UploadForm.optional(),
});
export type UploadPart = z.infer<typeof UploadPart>;

/** What a node must send for one file, part by part; the control plane completes what has more than one. */
export const UploadTicket = z.object({ ...ofFile, parts: z.array(UploadPart).min(1) });
export type UploadTicket = z.infer<typeof UploadTicket>;
/** The tickets, or why the storage gives none: that fails the outputs asked for. */
export const UploadsAnswer = z.union([
  z.object({ uploads: z.array(UploadTicket) }),
  z.object({ failure: FailureReport }),
]);
export type UploadsAnswer = z.infer<typeof UploadsAnswer>;

/** A file that lies in the storage, with the storage's answer to each part. */
export const UploadedFile = z.object({
  ...ofFile,
  sizeBytes: FileSize,
  etags: z.array(Line(MAX_ETAG_CHARS)).min(1).max(MAX_PARTS),
});
export type UploadedFile = z.infer<typeof UploadedFile>;

/** What is in a stream's packages. */
export const StreamProbes = z.object({ hls: MediaProbe.exactOptional(), dash: MediaProbe.exactOptional() });
export type StreamProbes = z.infer<typeof StreamProbes>;

/** Asks for signed requests on objects of the job's folder in the scratch bucket: to write some, to read others. */
export const ScratchRequest = z.object({
  token: LeaseProof.shape.token,
  puts: z.array(z.object({ name: ScratchName, sizeBytes: FileSize.min(1) })).max(200),
  gets: z.array(ScratchName).max(200),
});
export type ScratchRequest = z.infer<typeof ScratchRequest>;
/** `puts` in the order asked for, one PUT each; `gets` likewise. Both live for 15 minutes. */
export const ScratchAnswer = z.union([
  z.object({ puts: z.array(UploadPart), gets: z.array(z.string()) }),
  z.object({ failure: FailureReport }),
]);
export type ScratchAnswer = z.infer<typeof ScratchAnswer>;

export const OutputReport = z.discriminatedUnion("status", [
  z.object({
    status: z.literal("made"),
    output: OutputIndex,
    /** Of a stream only the playlists that players open, which are the last to be stored. */
    files: z.array(UploadedFile).min(1).max(MAX_FILE_NUMBER),
    /** Null for images, which have no metadata, and for streams, which have one by package. */
    probe: MediaProbe.nullable(),
    packages: StreamProbes.exactOptional(),
    /** Of its picture, or of its sound when it has none, by ffmpeg's name or `copy`; nodes leave it out for images. */
    encoder: EncoderNames.exactOptional(),
    /** One sentence on how it was made, such as that hardware failed at it. */
    note: Line(500).exactOptional(),
  }),
  z.object({ status: z.literal("failed"), output: OutputIndex, failure: FailureReport }),
]);
export type OutputReport = z.infer<typeof OutputReport>;

const OutputReports = z
  .array(OutputReport)
  .min(1)
  .max(MAX_OUTPUT_INDEX + 1);
const Tracks = z.array(ScratchTrack).max(MAX_TRACKS);

/**
 * Outputs of a task to encode that ended while the node goes on with others; `complete` brings those that no such report
 * brought, one at least. Nodes that are older report all of them there.
 */
export const OutputsReport = z.object({ token: LeaseProof.shape.token, outputs: OutputReports });
export type OutputsReport = z.infer<typeof OutputsReport>;

export const TaskResult = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("inspect"), probe: MediaProbe, chunking: Chunking.exactOptional() }),
  z.object({ kind: z.literal("encode"), outputs: OutputReports }),
  z.object({
    kind: z.literal("chunk"),
    tracks: Tracks.min(1),
    /** ffmpeg's name of the encoder of each track, and its version: all chunks of a track must have the same. */
    encoder: Line(200),
    encodeMs: z.number().min(0).max(MAX_LENGTH_MS),
  }),
  z.object({ kind: z.literal("sound"), tracks: Tracks }),
  z.object({ kind: z.literal("join"), outputs: OutputReports, seams: SeamReceipt }),
]);
export type TaskResult = z.infer<typeof TaskResult>;

export const CompleteReport = z.object({ token: LeaseProof.shape.token, result: TaskResult });
export type CompleteReport = z.infer<typeof CompleteReport>;
export const FailReport = z.object({ token: LeaseProof.shape.token, failure: FailureReport });
export type FailReport = z.infer<typeof FailReport>;
