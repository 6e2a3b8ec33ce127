// The `notification` section of a job request: who is told of the job's events.
import * as z from "zod";
import { type AllowPrivate, checkUrl } from "../address-policy.ts";
import { isObject, type Parsed, parseSection, refuse, text } from "./parse-section.ts";

export const NotificationSpec = z.object({
  type: z.literal("http"),
  url: z.string(),
  params: z.record(z.string(), z.string()),
  /** Whether events before the end are sent too. */
  events: z.boolean(),
  /** Whether payloads carry metadata. */
  metadata: z.boolean(),
});
export type NotificationSpec = z.infer<typeof NotificationSpec>;

const NotificationBody = z.strictObject({
  type: z.literal("http", "must be http"),
  url: text(2048),
  params: z
    .record(z.string().max(200), z.union([z.string().max(1000), z.number(), z.boolean()]).transform(String))
    .refine((params) => Object.keys(params).length <= 50, "has at most 50 members")
    .default({}),
  events: z.boolean("must be true or false").default(false),
  metadata: z.boolean("must be true or false").default(false),
});

/** Parses the `notification` section. */
export function parseNotification(value: unknown, allow: AllowPrivate): Parsed<NotificationSpec> {
  if (!isObject(value))
    return refuse("notification_not_valid", "`notification` must be an object with `type` and `url`");
  const parsed = parseSection<NotificationSpec>(NotificationBody, value, "notification", "notification_not_valid");
  if (!parsed.ok) return parsed;
  const checked = checkUrl(parsed.value.url, allow);
  if (!checked.ok) return refuse("notification_not_valid", `\`notification.url\`: ${checked.reason}`);
  return parsed;
}
