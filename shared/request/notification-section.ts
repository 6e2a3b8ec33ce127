// The `notification` section of a job request: who is told of the job's events, and how.
import * as z from "zod";
import { publicUrl } from "../job/metadata.ts";
import { nearest } from "../nearest.ts";
import { type AllowPrivate, checkUrl } from "../network/address-policy.ts";
import { strictObject } from "../strict-object.ts";
import { isObject, type Parsed, parseSection, refuse, text } from "./parse-section.ts";
import type { NotificationSecret } from "./storage/storage-spec.ts";
import { userOf } from "./storage/user-of.ts";

const told = {
  /** Whether events before the end are sent too. */
  events: z.boolean(),
  /** Whether payloads carry metadata. */
  metadata: z.boolean(),
};

/** A signed POST. `url` is the address as it may be shown; what is secret in it is in the `NotificationSecret`. */
const HttpNotification = z.object({ type: z.literal("http"), url: z.string(), ...told });

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

const MAX_PARAMS = 50;
const MAX_PARAM_NAME = 200;

const params = z.record(
  z.string().max(MAX_PARAM_NAME),
  z
    .union(
      [z.string().max(1000, "at most 1000 characters"), z.number(), z.boolean()],
      "must be a string, number or boolean",
    )
    .transform(String),
  {
    error: ({ code }) =>
      code === "invalid_key" ? `a name has at most ${MAX_PARAM_NAME} characters` : "must be an object of parameters",
  },
);

const HttpBody = strictObject({
  type: z.literal("http").describe("A signed POST to an address"),
  url: text(2048, ": where events are POSTed to, such as https://example.com/hook").describe(
    "Where events are POSTed as JSON",
  ),
  params: params
    .refine((params) => Object.keys(params).length <= MAX_PARAMS, `has at most ${MAX_PARAMS} members`)
    .default({})
    .describe(`Added to the query string of the address; at most ${MAX_PARAMS}`),
  ...toldBody,
});

/** Partition, region, account and name (Service Authorization Reference, Amazon SNS; CreateTopic, `Name`). */
const TOPIC_ARN = /^arn:aws[a-z-]*:sns:([a-z0-9-]+):\d{12}:(?=.{1,256}$)[\w-]+(?:\.fifo)?$/;

/**
 * Message attributes: their names (SNS Developer Guide, Amazon SNS message attributes), of which Amazon SQS takes ten
 * with a message; the events' own are two.
 */
const MAX_ATTRIBUTES = 8;
const ATTRIBUTE = /^(?!AWS\.|Amazon\.|\.)(?!.*\.\.)(?!.*\.$)[\w.-]+$/i;
const OWN_ATTRIBUTES = new Set(["event", "job_id"]);

const isAttribute = ([name, value]: [string, string]): boolean =>
  ATTRIBUTE.test(name) && !OWN_ATTRIBUTES.has(name) && value !== "";

const SnsBody = strictObject({
  type: z.literal("sns").describe("A message published to a topic of Amazon SNS"),
  region: text(64, ": the topic's region, such as us-east-1")
    .regex(/^[a-z0-9-]+$/, "must be a region name such as us-east-1")
    .describe("The topic's region, which `topic_arn` names too"),
  topic_arn: text(400, ", such as arn:aws:sns:us-east-1:123456789012:name")
    .regex(TOPIC_ARN, "must be the ARN of a topic such as arn:aws:sns:us-east-1:123456789012:name")
    .describe("The topic; one whose name ends in .fifo keeps a job's events in order"),
  credentials: strictObject(
    {
      access_key_id: text(128, ": the key's id").describe("Names the key"),
      secret_access_key: text(256, ": the key's secret").describe("The key's secret"),
    },
    { wanted: "must be an object with `access_key_id` and `secret_access_key`" },
  ).describe("Keys that may sns:Publish to the topic; sealed at once, never shown again"),
  params: params
    .refine((params) => Object.keys(params).length <= MAX_ATTRIBUTES, `has at most ${MAX_ATTRIBUTES} members`)
    .refine(
      (params) => Object.entries(params).every(isAttribute),
      "must have names of letters, digits, `_`, `-` and `.` other than `event` and `job_id`, and no empty values",
    )
    .default({})
    .describe(`Message attributes beside \`event\` and \`job_id\`; at most ${MAX_ATTRIBUTES}`),
  ...toldBody,
}).refine(({ region, topic_arn }) => TOPIC_ARN.exec(topic_arn)?.[1] === region, {
  path: ["region"],
  error: "must be the region that `topic_arn` names",
});

/** The section as clients write it. */
export const NotificationBody = z.discriminatedUnion("type", [HttpBody, SnsBody], {
  error: ({ input }) => {
    const type = isObject(input) && typeof input.type === "string" ? nearest(input.type, ["http", "sns"]) : null;
    return `${type === null ? "" : `did you mean \`${type}\`? It `}must be http or sns`;
  },
});

type ParsedNotification = { notification: NotificationSpec; secret: NotificationSecret };

/** Parses the `notification` section. */
export function parseNotification(value: unknown, allow: AllowPrivate): Parsed<ParsedNotification> {
  if (!isObject(value)) {
    const fault = value === undefined ? "is missing: it is" : "must be";
    const rule = 'an object with a `type`, such as `{"type":"http","url":"https://example.com/hook"}`';
    return refuse("notification_not_valid", `\`notification\` ${fault} ${rule}`);
  }
  const parsed = parseSection(NotificationBody, value, "notification", "notification_not_valid");
  if (!parsed.ok) return parsed;
  if (parsed.value.type === "sns") {
    const { topic_arn: topicArn, credentials, params, ...rest } = parsed.value;
    const secret = { accessKeyId: credentials.access_key_id, secretAccessKey: credentials.secret_access_key, params };
    return { ok: true, value: { notification: { ...rest, topicArn }, secret } };
  }
  const { params, ...http } = parsed.value;
  const checked = checkUrl(http.url, allow);
  if (!checked.ok) return refuse("notification_not_valid", `\`notification.url\`: ${checked.reason}`);
  if (!userOf(checked.url)) {
    return refuse("notification_not_valid", "`notification.url`: its user and password must be percent-encoded");
  }
  const secret = { url: withParams(checked.url, params) };
  return { ok: true, value: { notification: { ...http, url: publicUrl(checked.url) }, secret } };
}

/** The address with `params` behind what is in its query. */
function withParams(url: string, params: Readonly<Record<string, string>>): string {
  const added = Object.entries(params).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  const { search } = new URL(url);
  const base = url.replace(/#.*$/, "").replace(/\?$/, "");
  return added.length === 0 ? url : `${base}${search === "" ? "?" : "&"}${added.join("&")}`;
}
