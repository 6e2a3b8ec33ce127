// One track of one package while it is made: which of its segments are there, and what becomes of them.

import type { SegmentFormat } from "#shared/job/output-spec.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import type { StreamTrack } from "#shared/plan/streams/planned-stream.ts";
import { initFile, inStreamFolder, segmentFile, segmentNumber } from "../package/package-files.ts";
import type { PackagedTrack, Segment } from "../package/segment.ts";
import type { ReadySegment, TrackHeader, TrackReader } from "../package/track-reader.ts";
import { encryptedContent, rangeContent } from "../upload/content.ts";
import type { StreamFile } from "./stream-storage.ts";

/** A track as its package has it, and what ffprobe says of its first bytes. */
export type MadeTrack = PackagedTrack & { readonly probe: MediaProbe };

export interface TrackFeed {
  readonly kind: StreamTrack["kind"];
  /** What became complete since the last call; `ended`: nothing more is written. */
  poll(ended: boolean): Promise<StreamFile[]>;
  /** All that was read so far; null before the first segment. */
  made(): MadeTrack | null;
  close(): Promise<void>;
}

export type FeedOptions = {
  readonly track: StreamTrack;
  readonly format: SegmentFormat;
  /** Of what ffmpeg writes. */
  readonly reader: TrackReader;
  /** The name, in the protocol, of the stream's folder in the package. */
  readonly folder: string;
  /** The key of AES-128; null: nothing is encrypted. */
  readonly key: Uint8Array | null;
  /** What ffprobe says of a file. */
  readonly probeFile: (path: string) => Promise<MediaProbe>;
};

export function openFeed(options: FeedOptions): TrackFeed {
  const { track, format, reader, folder, key } = options;
  const segments: Segment[] = [];
  let header: TrackHeader | null = null;
  let probe: MediaProbe | null = null;

  const fileOf = (ready: ReadySegment): StreamFile => {
    const number = segmentNumber(segments.length);
    const plain = rangeContent(ready.path, ready.offset, ready.segment.sizeBytes);
    const content = key ? encryptedContent(plain, key, initializationVector(number)) : plain;
    // Keyframes cannot be taken out of an encrypted segment: its blocks depend on each other.
    const keyframes = key ? [] : ready.segment.keyframes;
    segments.push({ ...ready.segment, sizeBytes: content.sizeBytes, keyframes });
    const file = inStreamFolder(folder, segmentFile(track.name, number, format));
    return { file, content, onStored: ready.release };
  };

  return {
    kind: track.kind,
    async poll(ended) {
      const ready = await reader.next(ended);
      const [first] = ready;
      if (!first) return [];
      const isFirst = segments.length === 0;
      header ??= await reader.header();
      // Before its file is stored, and gone.
      probe ??= await options.probeFile(first.path);
      const init = isFirst && header?.initBytes ? [initOf(options, first.path, header.initBytes)] : [];
      return [...init, ...ready.map(fileOf)];
    },
    made: () => (header && probe ? { ...packagedTrack(track, header, segments), probe } : null),
    close: () => reader.close(),
  };
}

/** The beginning of the file that holds all segments. */
const initOf = ({ track, folder }: FeedOptions, path: string, sizeBytes: number): StreamFile => ({
  file: inStreamFolder(folder, initFile(track.name)),
  content: rangeContent(path, 0, sizeBytes),
});

function packagedTrack(
  { name, picture }: StreamTrack,
  header: TrackHeader,
  segments: readonly Segment[],
): PackagedTrack {
  const { codec, sound, timescale } = header;
  const shown = picture && { width: picture.frame.width, height: picture.frame.height, fps: picture.fps };
  return { name, codec, picture: shown, sound, timescale, segments };
}

/** The media sequence number as 16 bytes, big-endian (RFC 8216 §5.2). */
function initializationVector(number: number): Buffer {
  const iv = Buffer.alloc(16);
  iv.writeUInt32BE(number, 12);
  return iv;
}
