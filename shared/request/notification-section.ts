// The `notification` section of a job request: who is told of the job's events, and how.
import * as z from "zod";
import { type AllowPrivate, checkUrl } from "../address-policy.ts";
import { isObject, type Parsed, parseSection, refuse, text } from "./parse-section.ts";
import type { AccessKeys } from "./storage-spec.ts";

const told = {
  /** Whether events before the end are sent too. */
  events: z.boolean(),
  /** Whether payloads carry metadata. */
  metadata: z.boolean(),
};

export const HttpNotification = z.object({
  type: z.literal("http"),
  url: z.string(),
  params: z.record(z.string(), z.string()),
  ...told,
});
export type HttpNotification = z.infer<typeof HttpNotification>;

/** A topic of Amazon SNS. Its credentials lie with the job's secrets. */
export const SnsNotification = z.object({ type: z.literal("sns"), region: z.string(), topicArn: z.string(), ...told });
export type SnsNotification = z.infer<typeof SnsNotification>;

export const NotificationSpec = z.discriminatedUnion("type", [HttpNotification, SnsNotification]);
export type NotificationSpec = z.infer<typeof NotificationSpec>;

const toldBody = {
  events: z
    .boolean("must be true or false")
    .default(false)
    .describe("Whether input.transferred, input.failed, output.completed, output.failed and job.aborted are sent too"),
  metadata: z.boolean("must be true or false").default(false).describe("Whether payloads carry metadata"),
};

const HttpBody = z.strictObject({
  type: z.literal("http").describe("A signed POST to an address"),
  url: text(2048).describe("Where events are POSTed as JSON"),
  params: z
    .record(z.string().max(200), z.union([z.string().max(1000), z.number(), z.boolean()]).transform(String))
    .refine((params) => Object.keys(params).length <= 50, "has at most 50 members")
    .default({})
    .describe("Added to the query string of the address; at most 50"),
  ...toldBody,
});

/** Partition, region, account and name (Service Authorization Reference, Amazon SNS; CreateTopic, `Name`). */
const TOPIC_ARN = /^arn:aws[a-z-]*:sns:([a-z0-9-]+):\d{12}:(?=.{1,256}$)[\w-]+(?:\.fifo)?$/;

const SnsBody = z
  .strictObject({
    type: z.literal("sns").describe("A message published to a topic of Amazon SNS"),
    region: text(64)
      .regex(/^[a-z0-9-]+$/, "must be a region name such as us-east-1")
      .describe("The topic's region, which `topic_arn` names too"),
    topic_arn: text(400)
      .regex(TOPIC_ARN, "must be the ARN of a topic such as arn:aws:sns:us-east-1:123456789012:name")
      .describe("The topic; one whose name ends in .fifo keeps a job's events in order"),
    credentials: z
      .strictObject(
        {
          access_key_id: text(128).describe("Names the key"),
          secret_access_key: text(256).describe("The key's secret"),
        },
        { error: (issue) => (issue.code === "invalid_type" ? MISSING_KEYS : undefined) },
      )
      .describe("Keys that may sns:Publish to the topic; sealed at once, never shown again"),
    ...toldBody,
  })
  .refine(({ region, topic_arn }) => TOPIC_ARN.exec(topic_arn)?.[1] === region, {
    path: ["region"],
    error: "must be the region that `topic_arn` names",
  });

const MISSING_KEYS = "must be an object with `access_key_id` and `secret_access_key`";

/** The section as clients write it. */
export const NotificationBody = z.discriminatedUnion("type", [HttpBody, SnsBody], "must be http or sns");

export type ParsedNotification = { notification: NotificationSpec; keys: AccessKeys | null };

/** Parses the `notification` section. */
export function parseNotification(value: unknown, allow: AllowPrivate): Parsed<ParsedNotification> {
  if (!isObject(value)) return refuse("notification_not_valid", "`notification` must be an object with a `type`");
  const parsed = parseSection(NotificationBody, value, "notification", "notification_not_valid");
  if (!parsed.ok) return parsed;
  if (parsed.value.type === "sns") {
    const { topic_arn: topicArn, credentials, ...rest } = parsed.value;
    const keys = { accessKeyId: credentials.access_key_id, secretAccessKey: credentials.secret_access_key };
    return { ok: true, value: { notification: { ...rest, topicArn }, keys } };
  }
  const checked = checkUrl(parsed.value.url, allow);
  if (!checked.ok) return refuse("notification_not_valid", `\`notification.url\`: ${checked.reason}`);
  return { ok: true, value: { notification: parsed.value, keys: null } };
}
