// Fetches a source to this node's disk: resumes after dropped connections, and succeeds only when the file is complete.
import { open } from "node:fs/promises";
import { type Fetch, newResumeState } from "./fetch-options.ts";
import { diskFailure } from "./source-disk.ts";
import { SourceTransfer } from "./source-transfer.ts";

/**
 * Downloads a source and returns its size, which is checked against the size that the server sent. Throws AppError:
 * `input_http_<status>`, `input_unreachable`, `input_timeout` (silent or too slow), `input_too_large`,
 * `input_address_not_allowed`, `node_failed` (the disk fails or is too small), `node_busy` (other sources occupy the
 * disk). An abort rejects with the signal's reason.
 */
export async function fetchSource(fetch: Fetch): Promise<{ sizeBytes: number }> {
  fetch.signal.throwIfAborted();
  const { resume = newResumeState() } = fetch;
  const file = await open(fetch.destination, resume.received > 0 ? "r+" : "w", 0o600).catch(diskFailure);
  const startedAt = performance.now();
  const transfer = new SourceTransfer(fetch, resume, file);
  try {
    return { sizeBytes: await transfer.run() };
  } finally {
    resume.spentMs += performance.now() - startedAt;
    fetch.disk?.endReservation();
    await transfer.close();
    await file.close();
  }
}
