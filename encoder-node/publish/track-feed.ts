// A track of a package while it is encoded: turns its complete segments into files to upload.
import type { SegmentFormat } from "#shared/job/output-spec.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import type { StreamTrack } from "#shared/plan/streams/planned-stream.ts";
import type { PackagedTrack, Segment } from "../codecs/segment.ts";
import { initFile, inStreamFolder, segmentFile, segmentNumber } from "../package/package-files.ts";
import type { ReadySegment, TrackHeader, TrackReader } from "../package/track-reader.ts";
import { openFile } from "../run-files/open-file.ts";
import { encryptedContent, rangeContent } from "../upload/content.ts";
import type { StreamFile } from "./stream-storage.ts";

/** A track of a package, and ffprobe's data on its first bytes. */
export type MadeTrack = PackagedTrack & { readonly probe: MediaProbe };

export interface TrackFeed {
  readonly kind: StreamTrack["kind"];
  /** Returns the files that became complete since the last call. `ended`: nothing more is written. */
  poll(ended: boolean): Promise<StreamFile[]>;
  /** The track so far; null before the first segment. */
  made(): MadeTrack | null;
  /** Number of first segments that are stored together with the files that players need to read them. */
  storedSegments(): number;
  close(): Promise<void>;
}

export type FeedOptions = {
  readonly track: StreamTrack;
  readonly format: SegmentFormat;
  /** Reads the output of ffmpeg. */
  readonly reader: TrackReader;
  /** The stream's folder in the package, by its name in the protocol. */
  readonly folder: string;
  /** The AES-128 key; null: no encryption. */
  readonly key: Uint8Array | null;
  /** Returns ffprobe's data on a file. */
  readonly probeFile: (path: string) => Promise<MediaProbe>;
};

export function openFeed(options: FeedOptions): TrackFeed {
  const { track, format, reader, folder, key } = options;
  const segments: Segment[] = [];
  let header: TrackHeader | null = null;
  let probe: MediaProbe | null = null;
  let captions = false;
  const stored = storedPrefix();
  let isInitStored = false;

  const fileOf = (ready: ReadySegment): StreamFile => {
    const at = segments.length;
    const number = segmentNumber(at);
    const plain = rangeContent(ready.path, ready.offset, ready.segment.sizeBytes);
    const content = key ? encryptedContent(plain, key, initializationVector(number)) : plain;
    // A keyframe cannot be read from within an encrypted segment: its blocks depend on each other.
    const keyframes = key ? [] : ready.segment.keyframes;
    segments.push({ ...ready.segment, sizeBytes: content.sizeBytes, keyframes });
    const file = inStreamFolder(folder, segmentFile(track.name, number, format));
    const onStored = async (): Promise<void> => {
      stored.add(at);
      await ready.release();
    };
    return { file, content, onStored };
  };

  return {
    kind: track.kind,
    async poll(ended) {
      const ready = await reader.next(ended);
      const [first] = ready;
      if (!first) return [];
      const isFirst = segments.length === 0;
      header ??= await reader.header();
      // Probes the file before it is stored and removed.
      probe ??= await options.probeFile(first.path);
      if (isFirst && track.video?.captions) captions = await holdsCaptions(first);
      const init = isFirst && header?.initBytes ? [initOf(options, first.path, header.initBytes)] : [];
      isInitStored ||= isFirst && init.length === 0;
      const onStored = (): void => {
        isInitStored = true;
      };
      return [...init.map((file) => ({ ...file, onStored })), ...ready.map(fileOf)];
    },
    made: () => (header && probe ? { ...packagedTrack(track, header, segments, captions), probe } : null),
    storedSegments: () => (isInitStored ? stored.count() : 0),
    close: () => reader.close(),
  };
}

/** Counts segments that are stored without a gap before them. Several segments are sent at a time. */
function storedPrefix() {
  const later = new Set<number>();
  let count = 0;
  return {
    add(at: number): void {
      later.add(at);
      while (later.delete(count)) count += 1;
    },
    count: () => count,
  };
}

/** The start of the file that holds all segments. */
const initOf = ({ track, folder }: FeedOptions, path: string, sizeBytes: number): StreamFile => ({
  file: inStreamFolder(folder, initFile(track.name)),
  content: rangeContent(path, 0, sizeBytes),
});

function packagedTrack(
  { name, video: planned, audio: rendition, language }: StreamTrack,
  header: TrackHeader,
  segments: readonly Segment[],
  captions: boolean,
): PackagedTrack {
  const { codec, audio, timescale } = header;
  const video = planned && { ...planned.frame, fps: planned.fps, hdr: planned.hdr, captions };
  const traits = { ...(rendition ? { rendition } : {}), ...(language ? { language } : {}) };
  return { name, codec, video, audio, timescale, segments, ...traits };
}

/** The media sequence number as 16 bytes, big-endian (RFC 8216 §5.2). */
function initializationVector(number: number): Buffer {
  const iv = Buffer.alloc(16);
  iv.writeUInt32BE(number, 12);
  return iv;
}

// Closed captions in encoded video. Not every encoder copies them, and neither does every version of an encoder.

/** The start of a message with captions in H.264 and HEVC: ITU-T T.35, country and provider, "GA94", type 3 (A/53). */
const MESSAGE = Buffer.from("b500314741393403", "hex");

/** True if frames of a segment have closed captions. Packets of MPEG-TS may split some of the messages, but not all. */
async function holdsCaptions({ path, offset, segment }: ReadySegment): Promise<boolean> {
  const file = await openFile(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(segment.sizeBytes), 0, segment.sizeBytes, offset);
    return buffer.subarray(0, bytesRead).includes(MESSAGE);
  } finally {
    await file.close();
  }
}
