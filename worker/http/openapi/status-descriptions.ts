// The description of each status for clients, as a single sentence (contract, "States and transitions").
import type { InputStatus, JobStatus } from "#shared/job/job-status.ts";
import type { OutputView } from "#shared/job/job-view.ts";

export const JOB_STATUS_DESCRIPTIONS: Readonly<Record<JobStatus, string>> = {
  "job.starting": "The job was created and has not ended.",
  "job.completed": "All outputs were created, or skipped because their conditions are false.",
  "job.failed": "The input or at least one output failed; other outputs keep their URLs.",
  "job.aborted": "A client canceled the job.",
};

export const INPUT_STATUS_DESCRIPTIONS: Readonly<Record<InputStatus, string>> = {
  "input.starting": "The input waits for a node.",
  "input.transferring": "A node fetches the input.",
  "input.transferred": "The input was fetched and probed.",
  "input.failed": "The input could not be fetched, also after it was transferred, or is not a media file.",
};

const WAITING = "Waits for the input.";
const QUEUED = "Waits for a node.";
const SKIPPED = "Not created, because its condition is false.";
const ABORTED = "Not created, because the job was canceled.";

export const OUTPUT_STATUS_DESCRIPTIONS: Readonly<Record<OutputView["status"], string>> = {
  "video.waiting": WAITING,
  "video.queued": QUEUED,
  "video.encoding": "A node encodes the output.",
  "video.encoded": "Encoded and uploaded.",
  "video.failed": "Could not be encoded or uploaded; `error` gives the reason.",
  "video.skipped": SKIPPED,
  "video.aborted": ABORTED,
  "image.waiting": WAITING,
  "image.queued": QUEUED,
  "image.processing": "A node creates the images.",
  "image.created": "Created and uploaded.",
  "image.failed": "Could not be created or uploaded; `error` gives the reason.",
  "image.skipped": SKIPPED,
  "image.aborted": ABORTED,
  "httpstream.waiting": WAITING,
  "httpstream.queued": QUEUED,
  "httpstream.variants.encoding": "A node encodes the renditions.",
  "httpstream.packaging": "A node creates the segments and the playlists.",
  "httpstream.packaged": "Segments, playlists and manifests were created and uploaded.",
  "httpstream.failed": "Could not be created or uploaded; `error` gives the reason.",
  "httpstream.skipped": SKIPPED,
  "httpstream.aborted": ABORTED,
};
