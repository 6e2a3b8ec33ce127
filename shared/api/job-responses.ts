// Schemas of responses to clients, except the job (shared/job/job-view.ts).
import * as z from "zod";
import { ERRORS } from "../errors.ts";
import { ContractDate, JobView, PlaylistUrl } from "../job/job-view.ts";
import { OutputMetadata, UltrafastReceipt } from "../job/metadata.ts";
import { NOTIFICATION_EVENTS } from "../job/notification.ts";
import { OUTPUT_TYPES } from "../job/output-status.ts";
import { MediaProbe } from "../media/media-probe.ts";
import { NAMED } from "../named-schemas.ts";
import { EndpointResult } from "./notification-requests.ts";

/** Error codes of responses, as opposed to error codes of failed inputs and outputs. */
export const REQUEST_ERROR_CODES = Object.entries(ERRORS)
  .filter(([, { http }]) => http !== null)
  .map(([code]) => code);

export const ErrorBody = z
  .object({
    message: z.string().describe("A sentence for people; names the wrong field"),
    error_code: z.enum(REQUEST_ERROR_CODES).describe("The error code for programs"),
    status: z.literal("error"),
  })
  .describe("An error response")
  .register(NAMED, { id: "Error" });
export type ErrorBody = z.infer<typeof ErrorBody>;

export const JobList = z
  .object({
    jobs: z.array(JobView).describe("Newest first"),
    next_cursor: z.string().nullable().describe("The `cursor` of the next page; null on the last page"),
  })
  .describe("A page of the jobs of the account")
  .register(NAMED, { id: "JobList" });
export type JobList = z.infer<typeof JobList>;

const short = z.string().min(1).max(100);
/** A track beside the video, with ffprobe's values. */
export const AssumedTrack = z.strictObject({
  type: z.enum(["audio", "subtitle"]),
  codec: short.exactOptional(),
  language: short.exactOptional(),
  title: short.exactOptional(),
  channels: z.int().min(1).max(64).exactOptional(),
  dispositions: z.array(short).max(20).exactOptional(),
});
export type AssumedTrack = z.infer<typeof AssumedTrack>;

const AssumedSource = z
  .object({
    width: z.int(),
    height: z.int(),
    fps: z.number(),
    duration: z.number(),
    rotation: z.int(),
    audio: z.boolean(),
    tracks: z.array(AssumedTrack).exactOptional().describe("The tracks beside the video, as in the request"),
    probe: z
      .string()
      .exactOptional()
      .describe("The id of the probe that found it; absent for a source that is assumed"),
  })
  .describe("The source of the plan; without video, width, height and fps are 0");

const ExpectedSize = z
  .object({
    bytes: z.int(),
    basis: z
      .enum(["bitrate", "maxrate", "quality"])
      .describe(
        "`bitrate`: about this size; `maxrate`: at most about this size; `quality`: perhaps twice or half of it",
      ),
  })
  .describe("Absent if nothing determines the bitrate, as for copies and lossless codecs");
export type ExpectedSize = z.infer<typeof ExpectedSize>;

const Rendition = z
  .object({
    video: z.string().nullable().describe("The name of its video track, as in the URLs of segments; null: audio only"),
    audio: z.string().nullable().describe("The name of its audio track; null: no audio"),
    width: z.int().exactOptional(),
    height: z.int().exactOptional(),
    fps: z.number().exactOptional(),
    packages: z.array(z.enum(["hls", "dash"])).describe("The packages that contain it; hls does not contain HEVC"),
    variant: z.int().describe("Its index in the `variants` of the specification"),
    expected_size: ExpectedSize.exactOptional().describe("The size of its tracks in all packages"),
  })
  .describe("A rendition that players can choose");
export type Rendition = z.infer<typeof Rendition>;

export const DryRunPlan = z
  .object({
    dry_run: z.literal(true),
    assumed_source: AssumedSource,
    template: z.string().exactOptional().describe("The template of the job and its version, such as `web@3`"),
    input: z.looseObject({}).describe("The source that would be fetched"),
    storage: z.looseObject({}).describe("The storage of the outputs"),
    outputs: z.array(
      z.object({
        key: z.string(),
        type: z.enum(OUTPUT_TYPES),
        format: z.string().describe("The format in canonical form"),
        path: z.string().exactOptional(),
        condition: z.string().exactOptional(),
        spec: z.looseObject({}).describe("The complete specification from format and parameters; null means automatic"),
        url: z.string().exactOptional(),
        urls: z.union([z.array(z.string()), z.array(PlaylistUrl)]).exactOptional(),
        vtt_url: z.string().exactOptional(),
        renditions: z
          .array(Rendition)
          .exactOptional()
          .describe("The renditions of an HTTP stream, in the order of its playlists"),
        expected_size: ExpectedSize.exactOptional().describe("The size of its files; absent for images and texts"),
        skipped: z.literal(true).exactOptional().describe("The condition is false for the assumed source"),
      }),
    ),
    commands: z
      .array(z.object({ outputs: z.array(z.string()), argv: z.array(z.string()) }))
      .describe("The arguments of ffmpeg on a node; the node may use another encoder"),
    refusals: z
      .array(z.object({ key: z.string(), error: z.string(), error_code: z.string() }))
      .describe("Outputs that are not possible with such a source"),
  })
  .describe("The plan of a job that is not created")
  .register(NAMED, { id: "DryRunPlan" });
export type DryRunPlan = z.infer<typeof DryRunPlan>;

const InputMetadata = MediaProbe.extend({
  clip: z
    .object({ start: z.number(), end: z.number() })
    .exactOptional()
    .describe("The part of the file that the job encodes, in seconds (`input.start`, `input.end`)"),
});

export const JobMetadata = z
  .object({
    job_id: z.string(),
    metadata: z.object({
      input: z.union([InputMetadata, z.strictObject({})]).describe("Empty before the input is probed"),
      outputs: z
        .array(z.record(z.string(), OutputMetadata))
        .describe("For each finished output, an object with one property, whose name is the key"),
      ultrafast: UltrafastReceipt.exactOptional(),
    }),
  })
  .describe("All metadata of a job known so far")
  .register(NAMED, { id: "JobMetadata" });
export type JobMetadata = z.infer<typeof JobMetadata>;

export const KeyMetadata = z
  .object({
    job_id: z.string(),
    metadata: z.record(z.string(), OutputMetadata).describe("One property, whose name is the requested key"),
  })
  .describe("The metadata of the input or of one output")
  .register(NAMED, { id: "KeyMetadata" });
export type KeyMetadata = z.infer<typeof KeyMetadata>;

export const DELIVERY_STATES = ["due", "delivered", "abandoned"] as const;

export const DeliveryView = z
  .object({
    id: z.string().describe("The same in all attempts: identifies duplicates"),
    event: z.enum(NOTIFICATION_EVENTS),
    status: z
      .enum(DELIVERY_STATES)
      .describe("`due` until it is `delivered`, or `abandoned` at the end of its schedule"),
    attempts: z.int().describe("All attempts, replays included"),
    created_at: ContractDate,
    next_attempt_at: ContractDate.nullable().describe("Null when it is not due"),
    receiver: z
      .object({
        number: z.int().describe("Its place in the list, from 1"),
        type: z.enum(["http", "sns", "none"]),
        to: z.string().nullable().describe("The URL without its query, or the topic"),
      })
      .exactOptional()
      .describe("Its receiver, if the job has several"),
    last_result: z.string().nullable().describe("The receiver's HTTP status, or why there was no response"),
    response: EndpointResult.exactOptional().describe("After a replay to another URL: its response"),
  })
  .describe("One event on its way to the client")
  .register(NAMED, { id: "Delivery" });
export type DeliveryView = z.infer<typeof DeliveryView>;

export const NotificationLog = z
  .object({ job_id: z.string(), notifications: z.array(DeliveryView).describe("In the order of the events") })
  .describe("The notifications of a job")
  .register(NAMED, { id: "NotificationLog" });
export type NotificationLog = z.infer<typeof NotificationLog>;

export const Health = z
  .object({ status: z.literal("ok"), nodes: z.int().describe("Number of connected encoder nodes") })
  .describe("The service is healthy")
  .register(NAMED, { id: "Health" });
export type Health = z.infer<typeof Health>;

export const Ready = z
  .object({ status: z.literal("ready"), nodes: z.int().describe("Number of connected encoder nodes") })
  .describe("The service can do its work")
  .register(NAMED, { id: "Ready" });
export type Ready = z.infer<typeof Ready>;
