// The metadata of an ended job whose state was deleted: compressed, in a single entry of the job's object, until the
// job's row is deleted (docs/decisions/control-plane.md).
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { JobState } from "../state/job-state.ts";
import { KnownMetadata, knownMetadata } from "../views/metadata-view.ts";

export type KeptMetadata = {
  /** Ms since 1970. */
  readonly until: number;
  /** JSON, compressed by deflate. */
  readonly packed: Uint8Array;
};

/** An entry holds 2 MB. */
const MAX_BYTES = 1_900_000;

/**
 * The metadata to keep of a job that ended at most `listMs` ago; null if there is none. It has no keys of encrypted
 * streams, because these are secrets.
 */
export function keptMetadata(state: JobState, listMs: number, now: number): KeptMetadata | null {
  const until = (state.completedAt ?? 0) + listMs;
  const known = knownMetadata(state);
  if (until <= now || (!known.input && known.outputs.length === 0)) return null;
  const packed = new Uint8Array(deflateRawSync(JSON.stringify(known)));
  return packed.byteLength > MAX_BYTES ? null : { until, packed };
}

export const unpackMetadata = ({ packed }: KeptMetadata): KnownMetadata =>
  KnownMetadata.parse(JSON.parse(new TextDecoder().decode(inflateRawSync(packed))));
