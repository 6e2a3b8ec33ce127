// The options of a fetch of a source, and the state from which a later fetch resumes it.
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import type { DiskShare, FreeSpace } from "./source-disk.ts";
import type { SecretHeaders } from "./source-request.ts";
import type { SourceTimeouts } from "./source-timeouts.ts";

export type Fetch = {
  readonly url: string;
  readonly secretHeaders?: SecretHeaders | undefined;
  /**
   * The file to write. Its content is discarded, unless `resume` describes it. After a failure it holds the bytes that
   * have arrived.
   */
  readonly destination: string;
  /** The state of an earlier fetch of the file. It is kept up to date, so that a later fetch can resume. */
  readonly resume?: ResumeState | undefined;
  readonly allow: AllowPrivate;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Returns to 0 when a server cannot resume; `totalBytes` is null when the server does not send it. */
  readonly onProgress?: ((receivedBytes: number, totalBytes: number | null) => void) | undefined;
  readonly timeouts?: SourceTimeouts | undefined;
  /** The source's share of a disk that several sources use; `freeSpace` is ignored then. */
  readonly disk?: DiskShare | undefined;
  /** For tests; by default the free space of the disk, except a reserve. */
  readonly freeSpace?: FreeSpace | undefined;
};

/** State of the transfer of a source. */
export type ResumeState = {
  received: number;
  totalBytes: number | null;
  validator: string | null;
  /** True if the host identifies versions and supports range requests: then nothing is lost when the transfer stops. */
  canResume: boolean;
  /** The time of all fetches together. */
  spentMs: number;
};

export const newResumeState = (): ResumeState => ({
  received: 0,
  totalBytes: null,
  validator: null,
  canResume: false,
  spentMs: 0,
});
