// Schemas of responses about all jobs of an account: usage by day, and the stream of events.
import * as z from "zod";
import { JobView } from "../job/job-view.ts";
import { NOTIFICATION_EVENTS } from "../job/notification.ts";
import { NAMED } from "../named-schemas.ts";
import { Instant } from "./task-responses.ts";

/** A day in UTC. */
export const Day = z.iso.date();

const usage = {
  jobs: z
    .object({ completed: z.int(), failed: z.int(), cancelled: z.int() })
    .describe("How often jobs ended; a job that is retried ends again"),
  output_seconds: z
    .object({
      audio: z.number().describe("Audio without video"),
      sd: z.number().describe("Video of less than 1280 pixels on its longer side and 720 on its shorter one"),
      hd: z.number().describe("Larger video, up to 1920 and 1080"),
      uhd: z.number().describe("Larger video"),
    })
    .describe("Length of each finished video, and of each rendition of a stream"),
  node_seconds: z.number().describe("The time that nodes worked on tasks, attempts that failed included"),
  stored_bytes: z.int().describe("The size of the files of finished outputs"),
};

export const UsageDay = z
  .object({ day: Day, ...usage })
  .describe("The usage of the jobs that ended on a day")
  .register(NAMED, { id: "UsageDay" });
export type UsageDay = z.infer<typeof UsageDay>;

export const UsageTotal = z.object(usage).describe("The usage of all days").register(NAMED, { id: "UsageTotal" });
export type UsageTotal = z.infer<typeof UsageTotal>;

export const Usage = z
  .object({
    from: Day,
    to: Day.describe("The last day"),
    days: z.array(UsageDay).describe("All days, the oldest first"),
    total: UsageTotal,
    values: z
      .array(z.object({ value: z.string(), ...usage }).describe("The usage of the jobs with a value of the tag"))
      .exactOptional()
      .describe("With `by`: the usage by the tag's values, in their order; at most 1,000"),
    capped: z.boolean().exactOptional().describe("With `by`: whether there may be more values"),
  })
  .describe("Usage of an account")
  .register(NAMED, { id: "Usage" });
export type Usage = z.infer<typeof Usage>;

export const FontList = z
  .object({ fonts: z.array(z.string()).describe("Names for the parameter `burn.font`, in alphabetical order") })
  .describe("Fonts of the encoder nodes that are connected")
  .register(NAMED, { id: "FontList" });
export type FontList = z.infer<typeof FontList>;

export const JobEvent = z
  .object({
    id: JobView.shape.id,
    status: JobView.shape.status,
    progress: JobView.shape.progress,
    created_at: Instant,
    completed_at: Instant.nullable(),
    outputs: z.object({ completed: z.int(), failed: z.int(), total: z.int() }),
    tags: JobView.shape.tags,
  })
  .describe("A job was created, has another status, or has ended")
  .register(NAMED, { id: "JobEvent" });
export type JobEvent = z.infer<typeof JobEvent>;

export const NotificationEventData = z
  .object({
    id: z.string().describe("The id of the notification, as in the log of its job"),
    job_id: z.string(),
    event: z.enum(NOTIFICATION_EVENTS),
    body: z.string().describe("The body of the notification, exactly as it is sent"),
    receiver: z.int().exactOptional().describe("The number of its receiver, from 1, if the job has several"),
  })
  .describe("A notification is due")
  .register(NAMED, { id: "NotificationEvent" });
export type NotificationEventData = z.infer<typeof NotificationEventData>;

export const GapEvent = z
  .object({ missed: z.literal(true) })
  .describe("Events after `Last-Event-ID` are no longer kept: read the list of jobs for the missed events")
  .register(NAMED, { id: "GapEvent" });
export type GapEvent = z.infer<typeof GapEvent>;
