// Schemas for alerts: rules of the operator, and their receivers.
import * as z from "zod";
import { ContractDate } from "../job/job-view.ts";
import { TagFilter } from "../job/tags.ts";
import { NAMED } from "../named-schemas.ts";
import { PoolName } from "../placement.ts";
import { text } from "../request/parse-section.ts";
import { strictObject } from "../strict-object.ts";

export const ALERT_CONDITIONS = ["job.failed", "failures", "node.lost", "queue.age", "disk.low"] as const;
type When = (typeof ALERT_CONDITIONS)[number];

const whole = (min: number, max: number) => {
  const rule = `must be a whole number from ${min} to ${max}`;
  return z.int(rule).min(min, rule).max(max, rule);
};

const ofJobs = {
  account: text(64).exactOptional().describe("Only jobs of the account with this id"),
  tags: TagFilter.exactOptional(),
};
const ofPool = { pool: PoolName.exactOptional().describe("Only this pool") };
const share = {
  percent: whole(1, 100).describe("Share of failed jobs among the jobs that ended within an hour"),
  min_jobs: whole(1, 5000).default(10).describe("Minimum number of jobs that ended within the hour"),
};
const age = { seconds: whole(60, 604_800).describe("Waiting time of the oldest task") };
const space = { free_bytes: whole(1, 1e15).describe("Free bytes on the disk of a node's work folder") };

const QUIET = whole(1, 1440).default(1).describe("Minimum minutes between two messages of the alert");

/** Conditions with further fields. */
function rules<Fields extends z.ZodRawShape>(fields: Fields) {
  const rule = <Name extends When, Own extends z.ZodRawShape>(when: Name, fieldsOfRule: Own) =>
    strictObject({ when: z.literal(when), ...fieldsOfRule, quiet_minutes: QUIET, ...fields });
  return z.discriminatedUnion(
    "when",
    [
      rule("job.failed", ofJobs),
      rule("failures", { ...share, ...ofJobs }),
      rule("node.lost", ofPool),
      rule("queue.age", { ...age, ...ofPool }),
      rule("disk.low", { ...space, ...ofPool }),
    ],
    `must have \`when\`: one of ${ALERT_CONDITIONS.join(", ")}`,
  );
}

const url = text(2048, ": the URL that receives the messages");
const SECRET_RULE = "must be `whsec_` and 24 to 64 bytes in base64: it signs the messages";
const secret = z.string(SECRET_RULE).regex(/^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/, SECRET_RULE);
const address = z.email("must be an e-mail address");
const ADDRESSES_RULE = "must be a list of 1 to 20 e-mail addresses";

const AlertTarget = z.discriminatedUnion(
  "type",
  [
    strictObject({ type: z.literal("webhook"), url, secret }),
    strictObject({ type: z.literal("slack"), url }),
    strictObject({
      type: z.literal("email"),
      to: z.array(address, ADDRESSES_RULE).min(1, ADDRESSES_RULE).max(20, ADDRESSES_RULE),
    }),
  ],
  "must have a `type`: one of webhook, slack, email",
);
export type AlertTarget = z.infer<typeof AlertTarget>;

export const AlertBody = rules({ to: AlertTarget.describe("The receiver") })
  .describe("The condition and the receiver of an alert")
  .register(NAMED, { id: "NewAlert" });
export type AlertBody = z.infer<typeof AlertBody>;

export const AlertView = rules({
  name: z.string(),
  to: z.object({ type: z.string(), receiver: z.string().describe("The host of the URL, or the addresses") }),
  firing: z.array(z.string()).describe("Sentences about the nodes and pools for which the condition holds"),
  last_sent_at: ContractDate.nullable().describe("When the receiver last accepted a message"),
  last_error: z.string().nullable().describe("Why the newest message was not accepted; null if it was"),
})
  .describe("An alert")
  .register(NAMED, { id: "Alert" });
export type AlertView = z.infer<typeof AlertView>;

export const AlertList = z
  .object({ alerts: z.array(AlertView).describe("By name") })
  .describe("All alerts")
  .register(NAMED, { id: "AlertList" });
export type AlertList = z.infer<typeof AlertList>;
