// What each status tells a client, in one sentence (contract, "States and transitions").
import type { InputStatus, JobStatus } from "#shared/job/job-status.ts";
import type { OutputView } from "#shared/job/job-view.ts";

export const JOB_STATUS_MEANINGS: Readonly<Record<JobStatus, string>> = {
  "job.starting": "The job was created, and goes on until it ends in one of the other statuses.",
  "job.completed": "Every output was made, or skipped because its condition was false.",
  "job.failed": "The input or at least one output failed; outputs that were made keep their addresses.",
  "job.aborted": "A client cancelled the job before its end.",
};

export const INPUT_STATUS_MEANINGS: Readonly<Record<InputStatus, string>> = {
  "input.starting": "The input waits for a node.",
  "input.transferring": "A node fetches the input.",
  "input.transferred": "The input was fetched and probed; outputs can be made of it.",
  "input.failed": "The input could not be fetched, or is no media file.",
};

const WAITING = "Not yet queued: the input is still on its way.";
const QUEUED = "Waits for a node.";
const SKIPPED = "Not made, because its condition was false.";
const ABORTED = "Not made, because the job was cancelled.";

export const OUTPUT_STATUS_MEANINGS: Readonly<Record<OutputView["status"], string>> = {
  "video.waiting": WAITING,
  "video.queued": QUEUED,
  "video.encoding": "A node encodes it.",
  "video.encoded": "Encoded and uploaded.",
  "video.failed": "Could not be encoded or uploaded; `error` says why.",
  "video.skipped": SKIPPED,
  "video.aborted": ABORTED,
  "image.waiting": WAITING,
  "image.queued": QUEUED,
  "image.processing": "A node makes the pictures.",
  "image.created": "Made and uploaded.",
  "image.failed": "Could not be made or uploaded; `error` says why.",
  "image.skipped": SKIPPED,
  "image.aborted": ABORTED,
  "httpstream.waiting": WAITING,
  "httpstream.queued": QUEUED,
  "httpstream.variants.encoding": "Nodes encode its renditions.",
  "httpstream.packaging": "A node cuts the renditions into segments and writes the playlists.",
  "httpstream.packaged": "Segments, playlists and manifests were made and uploaded.",
  "httpstream.failed": "Could not be made or uploaded; `error` says why.",
  "httpstream.skipped": SKIPPED,
  "httpstream.aborted": ABORTED,
};
