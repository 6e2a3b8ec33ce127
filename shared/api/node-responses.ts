// Schemas of responses about nodes and about work that waits for nodes.
import * as z from "zod";
import { ContractDate } from "../job/job-view.ts";
import { NAMED } from "../named-schemas.ts";
import { Capabilities, HARDWARE_NAMES } from "../protocol/capabilities.ts";
import { SLOT_CLASSES } from "../protocol/tasks.ts";
import { Instant } from "./task-responses.ts";

/**
 * States of a node. Only `ready` nodes get work. `cordoned`: by the operator. `draining`: at its own or the operator's
 * request. `quarantined`: it failed several jobs. `not_ready`: it does not reach the service's storages. `offline`:
 * cordoned and not connected. `gone`: not connected, for at most a week.
 */
const NODE_STATES = ["ready", "not_ready", "cordoned", "draining", "quarantined", "offline", "gone"] as const;
export type NodeState = (typeof NODE_STATES)[number];

const SlotUse = z.object({
  free: z.int().describe("Slots that wait for work"),
  running: z.int().describe("Slots with a task"),
});
export type SlotUse = z.infer<typeof SlotUse>;

export const Node = z
  .object({
    id: z.string().describe("The name of the node"),
    state: z
      .enum(NODE_STATES)
      .describe(
        "`ready`: gets work. `not_ready`: gets none, for the reasons in `not_ready`. " +
          "`cordoned`: gets none, by the operator. `draining`: ends when its tasks are done. " +
          "`quarantined`: failed several jobs, and gets one task at a time or none. `offline`: cordoned, and not connected. " +
          "`gone`: not connected since at most a week",
      ),
    not_ready: z
      .array(z.string())
      .describe("Why it cannot work now: the URLs that it cannot reach, and how to fix it. Empty if it can work"),
    pool: z.string(),
    labels: z.array(z.string()).describe("The labels of its token and its own"),
    region: z.string().nullable().describe("The value of its label `region:…`"),
    spot: z.boolean().describe("Whether its machine may be taken away at any time"),
    host: z.string().nullable(),
    version: z.string().nullable().describe("The version of the node's program"),
    protocol: z.int().nullable(),
    ffmpeg: z.string().nullable().describe("The version of its ffmpeg"),
    cpus: z.int().nullable(),
    hardware: z.enum(HARDWARE_NAMES).nullable().describe("The hardware that it encodes with"),
    disk: z
      .object({ free_bytes: z.int(), total_bytes: z.int() })
      .nullable()
      .describe("The disk of its work folder, as of its last report"),
    slots: z
      .object({ inspect: SlotUse, encode: SlotUse })
      .describe("Free encode slots may be held for sources that the node inspects"),
    leases: z.int().describe("Number of leases that it holds"),
    score: z.number().describe("The share of its last ten jobs that failed by its fault, 0 to 1"),
    connected_at: ContractDate.nullable(),
    last_seen_at: ContractDate.nullable().describe("When its connection ended; null while it is connected"),
    lost_leases: z
      .array(z.string())
      .describe("The first leases that it had when its connection ended; other nodes get their tasks"),
    hub: z.string().describe("The hub that it is connected to"),
  })
  .describe("An encoder node")
  .register(NAMED, { id: "Node" });
export type Node = z.infer<typeof Node>;

export const NodeList = z
  .object({ nodes: z.array(Node).describe("By pool and name") })
  .describe("All nodes")
  .register(NAMED, { id: "NodeList" });
export type NodeList = z.infer<typeof NodeList>;

export const NodeDetails = Node.extend({
  running: z
    .array(z.object({ lease: z.string(), class: z.enum(SLOT_CLASSES) }))
    .describe("The leases that it holds; a lease starts with the id of its job"),
  capabilities: Capabilities.nullable().describe("Supported by its ffmpeg, by ffmpeg's names"),
})
  .describe("An encoder node with its leases and capabilities")
  .register(NAMED, { id: "NodeDetails" });
export type NodeDetails = z.infer<typeof NodeDetails>;

export const NodeHistory = z
  .object({
    id: z.string(),
    step_seconds: z.int().describe("The length of a step"),
    steps: z
      .array(
        z.object({
          at: Instant.describe("The start of the step"),
          busy: z.number().describe("Encode slots with a task, on average"),
          speed: z.number().describe("Seconds of sources that it encoded in a second, on average"),
        }),
      )
      .describe("The last 24 hours; the last step has not ended"),
  })
  .describe("The work of a node in the last 24 hours")
  .register(NAMED, { id: "NodeHistory" });
export type NodeHistory = z.infer<typeof NodeHistory>;

const Demand = z
  .object({
    wanted: z.int().describe("`running` + `waiting`: the number of slots that would let nothing wait"),
    running: z.int().describe("Tasks that nodes work on"),
    waiting: z.int().describe("Tasks that wait for a node"),
    free: z.int().describe("Slots that wait for work"),
    oldest_wait_seconds: z.number().describe("How long the oldest task has waited"),
    mean_task_seconds: z.number().describe("The average time of a task"),
  })
  .describe("The tasks of one class");
const demands = {
  encode: Demand.describe("Encodes, and inspections: each holds an encode slot for its job"),
  inspect: Demand.describe("Inspections alone"),
};

export const Autoscale = z
  .object({ ...demands, pools: z.record(z.string(), z.object(demands)).describe("The same for each pool") })
  .describe("How much work runs and waits: of all pools, and of each")
  .register(NAMED, { id: "Autoscale" });
export type Autoscale = z.infer<typeof Autoscale>;
