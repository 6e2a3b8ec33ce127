// /v2/metadata/jobs.
import { type Operation, pathParameter, success } from "../operation.ts";
import { ID } from "./jobs.ts";

const metadata = { tag: "Metadata", access: "client" } as const;

export const METADATA_OPERATIONS: readonly Operation[] = [
  {
    ...metadata,
    method: "get",
    path: "/v2/metadata/jobs/:id",
    id: "getJobMetadata",
    summary: "Read all metadata of a job",
    description:
      "The metadata known so far, empty at first. Failed outputs and skipped outputs have none. Kept as long as the job: the operator's `LIST_DAYS` (30 by default) after its end.",
    parameters: [ID],
    responses: [success(200, "The metadata", "JobMetadata")],
    codes: ["job_not_found", "metadata_not_found"],
  },
  {
    ...metadata,
    method: "get",
    path: "/v2/metadata/jobs/:id/:key",
    id: "getKeyMetadata",
    summary: "Read the metadata of the input or of one output",
    parameters: [
      ID,
      pathParameter(
        "key",
        "The key of an output, or `input` or `source`; `<format>:1` also names a single output without a `key`",
        "mp4:240p",
      ),
    ],
    responses: [success(200, "The metadata", "KeyMetadata")],
    codes: ["job_not_found", "metadata_not_found"],
  },
];
