// Frames on the WebSocket between a node and the hub.
import * as z from "zod";
import { Label, MAX_LABELS, PoolName } from "../placement.ts";
import { MAX_DISK_BYTES, MAX_HOST_CHARS, MAX_LEASES, MAX_LENGTH_MS, MAX_OUTPUT_INDEX } from "../report-limits.ts";
import { err, ok, type Result } from "../result.ts";
import { ReportedCapabilities } from "./capabilities.ts";
import { CommandReports } from "./commands.ts";
import { LeaseIdText, LeaseProof } from "./leases.ts";
import { Line } from "./reported-text.ts";
import { LeaseReport } from "./reports.ts";
import { Assignment, RunningLease, SlotCounts } from "./tasks.ts";
import { OutputIndex } from "./uploads.ts";

/** Hub and nodes must have the same version: each change of a frame or of a task's fields raises it. */
export const PROTOCOL_VERSION = 5;
/** Text that a node sends to keep its socket alive; the hub's runtime replies with PONG without waking the hub. */
export const PING = "ping";
export const PONG = "pong";

/** `holding`: outputs are finished, and their storage is unreachable. */
export const TASK_STAGES = ["transferring", "encoding", "uploading", "holding"] as const;
export type TaskStage = (typeof TASK_STAGES)[number];

/** `returned`: the node could not do the task now, but other nodes may. */
export const TASK_OUTCOMES = ["done", "failed", "returned", "cancelled"] as const;
export type TaskOutcome = (typeof TASK_OUTCOMES)[number];

const Rate = z.number().min(0).max(1_000_000);

/** A stream that can be played while it is encoded: its output, and the seconds in its playlists. */
export const LiveStream = z.object({
  output: OutputIndex,
  seconds: z
    .number()
    .min(0)
    .max(MAX_LENGTH_MS / 1000),
});
export type LiveStream = z.infer<typeof LiveStream>;

export const ProgressItem = z.object({
  ...LeaseProof.shape,
  stage: z.enum(TASK_STAGES),
  /** Completed share of the stage, 0 to 1. */
  fraction: z.number().min(0).max(1),
  /** While ffmpeg encodes: frames per second, and seconds of the source per second. */
  fps: Rate.exactOptional(),
  speed: Rate.exactOptional(),
  /** The streams of the task whose growing playlists are stored. */
  live: z
    .array(LiveStream)
    .max(MAX_OUTPUT_INDEX + 1)
    .exactOptional(),
});
export type ProgressItem = z.infer<typeof ProgressItem>;
/** Encoding speed of ffmpeg. */
export type EncodingRate = Pick<ProgressItem, "fps" | "speed">;

/** The disk that holds a node's sources and results; bytes. */
export const NodeDisk = z.object({
  free: z.int().min(0).max(MAX_DISK_BYTES),
  total: z.int().min(0).max(MAX_DISK_BYTES),
});
export type NodeDisk = z.infer<typeof NodeDisk>;

/** Reasons why a node gets no work now, a sentence each. Empty: the node is ready. */
const NotReady = z.array(Line(500)).max(8);

/** An origin of the service itself, and its use. The control plane signs URLs to it for nodes. */
export const ServiceOrigin = z.object({ origin: z.string().max(300), use: z.enum(["control plane", "scratch"]) });
export type ServiceOrigin = z.infer<typeof ServiceOrigin>;

const ProgressEveryMs = z.int().min(100);
const Session = z.string().max(4096);
/** Ten minutes at most. */
const ReconnectSpreadMs = z.int().min(0).max(600_000);
/**
 * Headers of a connecting node: its session, and its name (encodeURIComponent). The name decides which hub of the pool
 * serves the node.
 */
export const SESSION_HEADER = "copra-node-session";
export const NAME_HEADER = "copra-node-name";
/** Reason of the close frame if a new node chose the name of an existing node. The node then takes a different name. */
export const NAME_IN_USE = "another node has this name";
/** Lifetime of a session. In its second half a node sends a frame, and the hub replies with a new session. */
export const SESSION_MS = 60 * 60_000;

/** Facts that a node states about itself in `hello`. */
const nodeFacts = {
  /** Set if the node has chosen its name itself and was never accepted under it. */
  isNewName: z.literal(true).exactOptional(),
  /** The machine's name. */
  host: Line(MAX_HOST_CHARS).exactOptional(),
  /** The version of the node's program. */
  version: Line(64).exactOptional(),
  /** Pool that the node expects, from its token. */
  pool: PoolName.exactOptional(),
  /** Labels in addition to its token's labels. */
  labels: z.array(Label).max(MAX_LABELS).exactOptional(),
  /** True if the machine may be taken away at any time. */
  spot: z.boolean().exactOptional(),
  disk: NodeDisk.exactOptional(),
  notReady: NotReady.exactOptional(),
};

/** Number of a report on a connection. */
const ReportId = z.int().min(0);

/**
 * Newly free slots, and leases that no longer run. The slots are increments, so that frames that cross do not miscount;
 * an assign frame uses a slot.
 */
export const FreedSlots = z.object({
  offered: SlotCounts,
  released: z.array(LeaseIdText).max(MAX_LEASES),
  /** Outcome of the tasks of these leases, for metrics. */
  outcome: z.enum(TASK_OUTCOMES).exactOptional(),
  disk: NodeDisk.exactOptional(),
  /** Absent: unchanged since the last frame. */
  notReady: NotReady.exactOptional(),
});
export type FreedSlots = z.infer<typeof FreedSlots>;

export const NodeFrame = z.discriminatedUnion("type", [
  /** First frame on every connection. `slots`: free slots. `running`: all leases that this process still works on. */
  z.object({
    type: z.literal("hello"),
    protocol: z.literal(PROTOCOL_VERSION),
    nodeId: Line(64).min(1),
    /** A new session for every start of the node's process. */
    session: Line(64).min(1),
    capabilities: ReportedCapabilities,
    slots: SlotCounts,
    running: z.array(RunningLease).max(MAX_LEASES),
    ...nodeFacts,
  }),
  z.object({ type: z.literal("slots"), ...FreedSlots.shape }),
  /** May be lost. Also renews the leases that it names. */
  z.object({ type: z.literal("progress"), items: z.array(ProgressItem).max(MAX_LEASES) }),
  /**
   * A report on a lease. The hub passes it on, and sends `ack` after the job has stored it. Without an `ack` within ten
   * seconds the node sends the report by POST. `slots`: slots that the task frees, so that the job receives the result
   * and the claim of the next task at the same time.
   */
  z.object({ type: z.literal("report"), id: ReportId, report: LeaseReport, slots: FreedSlots.exactOptional() }),
  /** The answer to `look`: the ffmpeg runs of a lease that have not ended. */
  z.object({ type: z.literal("running"), lease: LeaseIdText, commands: CommandReports }),
  /**
   * The node drains: it accepts no more work on this connection. `withinMs`: the machine disappears after this time,
   * and the node hands back work that it cannot finish.
   */
  z.object({ type: z.literal("bye"), withinMs: z.int().min(0).max(MAX_LENGTH_MS).exactOptional() }),
]);
export type NodeFrame = z.infer<typeof NodeFrame>;
export type NodeFrameOf<Type extends NodeFrame["type"]> = Extract<NodeFrame, { type: Type }>;

export const HubFrame = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("welcome"),
    progressEveryMs: ProgressEveryMs,
    /** Proof of the node's token, pool and labels for the next connections, which then need no database. */
    session: Session.exactOptional(),
    /** Maximum of the random delay before a node replaces a lost connection. */
    reconnectSpreadMs: ReconnectSpreadMs.exactOptional(),
    /** Origins of the service itself. The node offers slots once it reaches all of them. */
    service: z.array(ServiceOrigin).max(8).exactOptional(),
  }),
  /** A new proof before the previous proof expires, and a new spread for a hub with more nodes. */
  z.object({ type: z.literal("session"), session: Session, reconnectSpreadMs: ReconnectSpreadMs }),
  /** New interval between progress frames. */
  z.object({ type: z.literal("pace"), progressEveryMs: ProgressEveryMs }),
  z.object({ type: z.literal("assign"), assignment: Assignment }),
  /**
   * `isAccepted` is true if the job has stored the report, and false if its lease is over. Null: unknown; the node
   * sends the report by POST.
   */
  z.object({ type: z.literal("ack"), id: ReportId, isAccepted: z.boolean().nullable() }),
  /** The job no longer needs this lease's work: stop the work and discard it. */
  z.object({ type: z.literal("cancel"), lease: LeaseIdText }),
  /** Somebody looks at this lease: respond with `running`. */
  z.object({ type: z.literal("look"), lease: LeaseIdText }),
  /** Finish running work and accept no new work. */
  z.object({ type: z.literal("drain") }),
]);
export type HubFrame = z.infer<typeof HubFrame>;

/** Why a frame cannot be read: the reason of the close frame, and details for the log. */
export type DecodeError = { readonly reason: string; readonly detail: string };

export const decodeNodeFrame = (text: string): Result<NodeFrame, DecodeError> => decode(text, NodeFrame);
export const decodeHubFrame = (text: string): Result<HubFrame, DecodeError> => decode(text, HubFrame);

function decode<Frame>(text: string, schema: z.ZodType<Frame>): Result<Frame, DecodeError> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return err({ reason: "invalid frame", detail: "not JSON" });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return ok(parsed.data);
  const isOtherProtocol = parsed.error.issues.some(({ path }) => path.length === 1 && path[0] === "protocol");
  const reason = isOtherProtocol ? `protocol ${PROTOCOL_VERSION} is required: update this node` : "invalid frame";
  return err({ reason, detail: z.prettifyError(parsed.error) });
}
