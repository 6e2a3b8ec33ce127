// The `notification` section of a job request: the receiver of the job's events.

import * as z from "zod";
import { publicUrl } from "../job/metadata.ts";
import { NOTIFICATION_EVENTS } from "../job/notification.ts";
import { nearest } from "../nearest.ts";
import { type AllowPrivate, checkReachableUrl } from "../network/address-policy.ts";
import { ok, type Result } from "../result.ts";
import { strictObject } from "../strict-object.ts";
import { invalid, isObject, parseSection, text } from "./parse-section.ts";
import type { NotificationSecret } from "./storage/storage-spec.ts";
import { userOf } from "./storage/user-of.ts";

const options = {
  /** True to send events before the end of the job, too. A list has exactly the events to send. */
  events: z.union([z.boolean(), z.array(z.enum(NOTIFICATION_EVENTS))]),
  /** True if payloads include metadata. */
  metadata: z.boolean(),
};

/** A signed POST. `url` has no secrets; `NotificationSecret` has them. */
const HttpNotification = z.object({ type: z.literal("http"), url: z.string(), ...options });

/** An Amazon SNS topic. Its credentials are stored with the job's secrets. */
export const SnsNotification = z.object({
  type: z.literal("sns"),
  region: z.string(),
  topicArn: z.string(),
  ...options,
});
export type SnsNotification = z.infer<typeof SnsNotification>;

/** No notification. The events are in the log of the job and in the account's stream. */
const NoNotification = z.object({ type: z.literal("none"), ...options });

export const NotificationSpec = z.discriminatedUnion("type", [HttpNotification, SnsNotification, NoNotification]);
export type NotificationSpec = z.infer<typeof NotificationSpec>;

const EVENTS = NOTIFICATION_EVENTS.join(", ");
const EVENTS_RULE = `must be true, false, or a list of events: ${EVENTS}`;

const optionsBody = {
  events: z
    .union(
      [z.boolean(), z.array(z.enum(NOTIFICATION_EVENTS, `must be one of ${EVENTS}`)).min(1, EVENTS_RULE)],
      EVENTS_RULE,
    )
    .default(false)
    .describe(
      "Whether to send input.transferred, input.failed, output.completed, output.failed and job.aborted, too; a list names " +
        "exactly the events to send",
    ),
  metadata: z.boolean("must be true or false").default(false).describe("Whether payloads include metadata"),
};

const MAX_PARAMS = 50;
const MAX_PARAM_NAME = 200;

const params = z.record(
  z.string().max(MAX_PARAM_NAME),
  z
    .union(
      [z.string().max(1000, "must have at most 1000 characters"), z.number(), z.boolean()],
      "must be a string, number or boolean",
    )
    .transform(String),
  {
    error: ({ code }) =>
      code === "invalid_key"
        ? `must have a name of at most ${MAX_PARAM_NAME} characters`
        : "must be an object of names and values",
  },
);

const HttpBody = strictObject({
  type: z.literal("http").describe("A signed POST to a URL"),
  url: text(2048, ": the URL that receives events, such as https://example.com/hook").describe(
    "The URL that receives events as JSON, in POST requests",
  ),
  params: params.default({}).describe(`Parameters to add to the query string of the URL; at most ${MAX_PARAMS}`),
  ...optionsBody,
});

/** Partition, region, account and name (Service Authorization Reference, Amazon SNS; CreateTopic, `Name`). */
const TOPIC_ARN = /^arn:aws[a-z-]*:sns:([a-z0-9-]+):\d{12}:(?=.{1,256}$)[\w-]+(?:\.fifo)?$/;

/**
 * Maximum number of params as message attributes (names: SNS Developer Guide, Amazon SNS message attributes). Amazon
 * SQS accepts ten in a message; the events use two.
 */
const MAX_ATTRIBUTES = 8;
const ATTRIBUTE = /^(?!AWS\.|Amazon\.|\.)(?!.*\.\.)(?!.*\.$)[\w.-]+$/i;
const OWN_ATTRIBUTES = new Set(["event", "job_id"]);

const isAttribute = ([name, value]: [string, string]): boolean =>
  ATTRIBUTE.test(name) && !OWN_ATTRIBUTES.has(name) && value !== "";

const SnsBody = strictObject({
  type: z.literal("sns").describe("A message published to an Amazon SNS topic"),
  region: text(64, ": the region of the topic, such as us-east-1")
    .regex(/^[a-z0-9-]+$/, "must be a region name such as us-east-1")
    .describe("The region of the topic, the same as in `topic_arn`"),
  topic_arn: text(400, ", such as arn:aws:sns:us-east-1:123456789012:name")
    .regex(TOPIC_ARN, "must be the ARN of a topic, such as arn:aws:sns:us-east-1:123456789012:name")
    .describe("The topic; a FIFO topic, whose name ends in .fifo, keeps the events of a job in order"),
  credentials: strictObject(
    {
      access_key_id: text(128, ": the access key id").describe("The access key id"),
      secret_access_key: text(256, ": the secret access key").describe("The secret access key"),
    },
    { wanted: "must be an object with `access_key_id` and `secret_access_key`" },
  ).describe("Credentials with the permission sns:Publish for the topic; encrypted on arrival and never returned"),
  params: params
    .refine(
      (params) => Object.entries(params).every(isAttribute),
      "must have names of letters, digits, `_`, `-` and `.`, other than `event` and `job_id`, and no empty values",
    )
    .default({})
    .describe(`Message attributes to send besides \`event\` and \`job_id\`; at most ${MAX_ATTRIBUTES}`),
  ...optionsBody,
}).refine(({ region, topic_arn }) => TOPIC_ARN.exec(topic_arn)?.[1] === region, {
  path: ["region"],
  error: "must be the same region as in `topic_arn`",
});

const NoneBody = strictObject({
  type: z.literal("none").describe("Notify nobody: for clients that follow the job, or the events of their account"),
  ...optionsBody,
});

/** The section of a request. */
export const NotificationBody = z.discriminatedUnion("type", [HttpBody, SnsBody, NoneBody], {
  error: ({ input }) => {
    const type =
      isObject(input) && typeof input.type === "string" ? nearest(input.type, ["http", "sns", "none"]) : null;
    return `must be http, sns or none${type === null ? "" : `; did you mean \`${type}\`?`}`;
  },
});

type ParsedNotification = { notification: NotificationSpec; secret: NotificationSecret };

export const MAX_RECEIVERS = 5;

/** The receivers of a job: the first, and all others. */
type Receivers<Receiver> = {
  readonly notification: Receiver;
  readonly moreReceivers?: readonly Receiver[] | undefined;
};

/** All receivers of a job, or their secrets, in the order of the request. */
export const receiversOf = <Receiver>({
  notification,
  moreReceivers = [],
}: Receivers<Receiver>): readonly Receiver[] => [notification, ...moreReceivers];

/** Parses the `notification` section: a receiver, or a list of up to five. */
export function parseReceivers(
  value: unknown,
  allow: AllowPrivate,
): Result<{ first: ParsedNotification; more: ParsedNotification[] }> {
  if (!Array.isArray(value)) {
    const parsed = parseNotification(value, allow);
    return parsed.ok ? ok({ first: parsed.value, more: [] }) : parsed;
  }
  const all: ParsedNotification[] = [];
  for (const [at, one] of value.slice(0, MAX_RECEIVERS + 1).entries()) {
    const parsed = parseNotification(one, allow, `notification.${at}`);
    if (!parsed.ok) return parsed;
    all.push(parsed.value);
  }
  const [first, ...more] = all;
  if (first && more.length < MAX_RECEIVERS) return ok({ first, more });
  return invalid("notification_not_valid", `\`notification\` must have 1 to ${MAX_RECEIVERS} receivers`);
}

/** Parses a receiver. `path`: its place in the request. */
export function parseNotification(
  value: unknown,
  allow: AllowPrivate,
  path = "notification",
): Result<ParsedNotification> {
  if (!isObject(value)) {
    const verb = value === undefined ? "is missing; it must be" : "must be";
    const rule = 'an object with a `type`: `{"type":"http","url":"https://example.com/hook"}`, or `{"type":"none"}`';
    return invalid("notification_not_valid", `\`${path}\` ${verb} ${rule}`);
  }
  // Check the number before any value is parsed.
  const most = value.type === "sns" ? MAX_ATTRIBUTES : MAX_PARAMS;
  if (isObject(value.params) && Object.keys(value.params).length > most) {
    return invalid("notification_not_valid", `\`${path}.params\` must have at most ${most} properties`);
  }
  const parsed = parseSection(NotificationBody, value, path, "notification_not_valid");
  if (!parsed.ok) return parsed;
  if (parsed.value.type === "sns") {
    const { topic_arn: topicArn, credentials, params, ...rest } = parsed.value;
    const secret = { accessKeyId: credentials.access_key_id, secretAccessKey: credentials.secret_access_key, params };
    return ok({ notification: { ...rest, topicArn }, secret });
  }
  if (parsed.value.type === "none") return ok({ notification: parsed.value, secret: { url: "" } });
  const { params, ...http } = parsed.value;
  const checked = checkReachableUrl(http.url, allow);
  if (!checked.ok) return invalid("notification_not_valid", `\`${path}.url\` ${checked.error}`);
  if (!userOf(checked.value)) {
    return invalid("notification_not_valid", `The user and password in \`${path}.url\` must be percent-encoded`);
  }
  const secret = { url: withParams(checked.value, params) };
  return ok({ notification: { ...http, url: publicUrl(checked.value) }, secret });
}

/** Returns the URL with `params` appended to its query. */
function withParams(url: string, params: Readonly<Record<string, string>>): string {
  const added = Object.entries(params).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  const { search } = new URL(url);
  const base = url.replace(/#.*/s, "").replace(/\?$/, "");
  return added.length === 0 ? url : `${base}${search === "" ? "?" : "&"}${added.join("&")}`;
}
