// Fetches a file to this node's disk, and succeeds only when the file is complete.
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import type { DiskShare } from "./source-disk.ts";
import { type OnBytes, SourceFile } from "./source-file.ts";
import type { SecretHeaders } from "./source-request.ts";
import type { SourceTimeouts } from "./source-timeouts.ts";

export type Fetch = {
  readonly url: string;
  readonly secretHeaders?: SecretHeaders | undefined;
  /** The file to write. After a failure it holds the bytes that have arrived. */
  readonly destination: string;
  readonly allow: AllowPrivate;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly onProgress?: OnBytes | undefined;
  readonly timeouts?: SourceTimeouts | undefined;
  /** The share of a disk that several sources use. */
  readonly disk?: DiskShare | undefined;
};

/** Returns the size of the file. Throws as `SourceFile.whole` does. */
export async function fetchSource({
  url,
  secretHeaders,
  destination: path,
  signal,
  onProgress,
  ...options
}: Fetch): Promise<{ sizeBytes: number }> {
  signal.throwIfAborted();
  const file = await SourceFile.open({ ...options, path, pieces: [{ url, secretHeaders, sizeBytes: null }] });
  try {
    return { sizeBytes: await file.whole(signal, onProgress) };
  } finally {
    await file.close();
  }
}
