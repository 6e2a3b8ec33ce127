// Schemas of notification payloads (api-v2 §9).
import * as z from "zod";
import { MediaProbe } from "../media/media-probe.ts";
import { NAMED } from "../named-schemas.ts";
import { InputView, JobView, OutputView } from "./job-view.ts";
import { OutputMetadata } from "./metadata.ts";

const payload = <const Event extends string, Data extends z.ZodType>(events: readonly Event[], data: Data) =>
  z.object({
    job_id: z.string(),
    event: z.enum(events),
    metadata: z.boolean().describe("Whether this payload includes metadata"),
    data,
  });

const inputMetadata = { metadata: MediaProbe.exactOptional() };
const outputMetadata = { metadata: OutputMetadata.exactOptional() };

export const InputPayload = payload(
  ["input.transferred", "input.failed"],
  InputView.omit({ source: true }).extend({
    progress: z.literal("100%").describe("Progress of the transfer"),
    ...inputMetadata,
  }),
)
  .describe("The result of the input of a job")
  .register(NAMED, { id: "InputPayload" });

export const OutputPayload = payload(
  ["output.completed", "output.failed"],
  OutputView.omit({ format: true }).extend({
    progress: JobView.shape.progress.describe("Percentage of outputs that have ended, without skipped ones"),
    ...outputMetadata,
  }),
)
  .describe("The result of one output of a job")
  .register(NAMED, { id: "OutputPayload" });

export const JobPayload = payload(
  ["job.completed", "job.failed", "job.aborted"],
  JobView.omit({ ends_at: true }).extend({
    type: z.literal("job"),
    input: InputView.omit({ source: true }).extend(inputMetadata),
    outputs: z.array(OutputView.omit({ progress: true }).extend(outputMetadata)),
  }),
)
  .describe("The end of a job")
  .register(NAMED, { id: "JobPayload" });

export const NotificationPayload = z.union([InputPayload, OutputPayload, JobPayload]);
export type NotificationPayload = z.infer<typeof NotificationPayload>;
