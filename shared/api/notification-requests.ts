// Schemas of requests that send a webhook once (a test of an endpoint, or a notification to a given URL), and of the
// result.
import * as z from "zod";
import { NOTIFICATION_EVENTS } from "../job/notification.ts";
import { NAMED } from "../named-schemas.ts";
import { text } from "../request/parse-section.ts";
import { strictObject } from "../strict-object.ts";

const url = text(2048, ": the URL to send it to, such as https://example.com/hook");

export const TestBody = strictObject({
  url: url.describe("The URL that receives the event, in a POST request"),
  event: z
    .enum(NOTIFICATION_EVENTS, `must be one of ${NOTIFICATION_EVENTS.join(", ")}`)
    .default("job.completed")
    .describe("The event whose example is sent"),
})
  .describe("The request to send, and its URL")
  .register(NAMED, { id: "NotificationTest" });

export const ReplayBody = strictObject({
  url: url
    .exactOptional()
    .describe("Send it once to this URL, and not to the job's URL; the schedule of the notification stays the same"),
})
  .describe("Where to send it; without a body to the URL of the job")
  .register(NAMED, { id: "Replay" });

export const EndpointResult = z
  .object({
    delivered: z.boolean().describe("Whether it responded with a status 2xx"),
    status: z.int().nullable().describe("The HTTP status of the response; null if there was none"),
    error: z.string().exactOptional().describe("Why there was no response"),
    seconds: z.number().describe("How long the response took"),
  })
  .describe("The response of an endpoint")
  .register(NAMED, { id: "EndpointResult" });
export type EndpointResult = z.infer<typeof EndpointResult>;
