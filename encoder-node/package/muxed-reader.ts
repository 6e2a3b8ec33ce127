// Builds a variant's MPEG-TS segments with video and audio, as the segments of both tracks become complete.
import { STREAM_START_SECONDS } from "#shared/plan/streams/planned-stream.ts";
import { type MuxedSegment, writeMuxed } from "./mpegts/mux-segment.ts";
import { indexPes, type PesIndex, type PesSpan } from "./mpegts/pes-index.ts";
import { TICKS_PER_SECOND } from "./mpegts/ts-packets.ts";
import { fileRelease, type ReadySegment, type TrackReader } from "./track-reader.ts";

export type MuxedTracks = {
  /** Readers of MPEG-TS. */
  readonly video: TrackReader;
  readonly audio: TrackReader;
  readonly segmentSeconds: number;
  /** The path of the segment with this number, from 0. */
  readonly pathOf: (number: number) => string;
};

/** In ticks. If audio continues for less than this after the video, it is part of the last segment. */
const SHORTEST = 0.5 * TICKS_PER_SECOND;

/** Segments have the boundaries of the video segments. Audio after the last video segment gets its own segments. */
export function muxedReader({ video, audio, segmentSeconds, pathOf }: MuxedTracks): TrackReader {
  const waitingVideo: ReadySegment[] = [];
  const pendingAudio = audioQueue();
  let streams: { video: PesIndex["stream"] | null; audio: PesIndex["stream"] | null } = { video: null, audio: null };
  let near = STREAM_START_SECONDS * TICKS_PER_SECOND;
  let written = 0;

  const write = async (start: number, end: number, video: readonly PesSpan[]): Promise<ReadySegment> => {
    if (!streams.video || !streams.audio) throw new Error("Variant lacks one of its tracks");
    const path = pathOf(written);
    const spans: MuxedSegment["audio"] = pendingAudio.before(end);
    const tracks = { video: streams.video, audio: streams.audio };
    const sizeBytes = await writeMuxed(path, { video, audio: spans, streams: tracks, number: written });
    await pendingAudio.drop(spans.length);
    written += 1;
    near = end;
    // Keyframe playlists need a higher HLS version, so packages with such segments have no keyframe playlists.
    const segment = { start, duration: end - start, sizeBytes, keyframes: [] };
    return { segment, path, offset: 0, release: fileRelease(path) };
  };
  const writeVideo = async (ready: ReadySegment, isLast: boolean): Promise<ReadySegment> => {
    const { start, duration } = ready.segment;
    const index = await indexPes(ready.path, start);
    streams = { ...streams, video: index.stream };
    const end = start + duration;
    const isTailShort = pendingAudio.end() > end && pendingAudio.end() - end < SHORTEST;
    const segment = await write(start, isLast && isTailShort ? pendingAudio.end() : end, index.spans);
    await ready.release();
    return segment;
  };

  return {
    async header() {
      const [videoHeader, audioHeader] = [await video.header(), await audio.header()];
      if (!videoHeader || !audioHeader) return null;
      return { ...videoHeader, codec: `${videoHeader.codec},${audioHeader.codec}`, audio: audioHeader.audio };
    },
    async next(ended) {
      waitingVideo.push(...(await video.next(ended)));
      for (const ready of await audio.next(ended)) {
        const index = await indexPes(ready.path, ready.segment.start);
        streams = { ...streams, audio: index.stream };
        pendingAudio.add(ready, index.spans);
      }
      const segments: ReadySegment[] = [];
      for (let [next] = waitingVideo; next; [next] = waitingVideo) {
        const { start, duration } = next.segment;
        if (!ended && pendingAudio.end() < start + duration) break;
        segments.push(await writeVideo(next, ended && waitingVideo.length === 1));
        waitingVideo.shift();
      }
      while (ended && pendingAudio.end() > near) {
        const end = near + segmentSeconds * TICKS_PER_SECOND;
        segments.push(await write(near, pendingAudio.end() - end < SHORTEST ? pendingAudio.end() : end, []));
      }
      return segments;
    },
    async close() {
      await Promise.all([video.close(), audio.close()]);
    },
  };
}

/** Audio that is not in a segment yet. A file is released when all of its audio is in segments. */
function audioQueue() {
  const waiting: (PesSpan & { readonly isLastOf: ReadySegment | null })[] = [];
  let end = 0;
  return {
    add(ready: ReadySegment, spans: readonly PesSpan[]): void {
      const last = spans.length - 1;
      waiting.push(...spans.map((span, at) => ({ ...span, isLastOf: at === last ? ready : null })));
      end = ready.segment.start + ready.segment.duration;
    },
    /** The end of the audio that has arrived so far, in ticks. */
    end: (): number => end,
    /**
     * The audio that ends by this time, in ticks. A packet of several frames that continues after this time belongs to
     * the next segment. A player that starts there then has audio from the first frame on.
     */
    before(ticks: number): PesSpan[] {
      const count = waiting.findIndex((_, at) => (waiting[at + 1]?.shownAt ?? end) > ticks);
      return count < 0 ? [...waiting] : waiting.slice(0, count);
    },
    async drop(count: number): Promise<void> {
      for (const { isLastOf } of waiting.splice(0, count)) await isLastOf?.release();
    },
  };
}

// Reads a track once for several variants. Each variant gets all of the track's segments.

/** Returns `uses` readers of the same track. A segment is released when all of them have released it. */
export function sharedReaders(reader: TrackReader, uses: number): TrackReader[] {
  const segments: ReadySegment[] = [];
  let last: Promise<unknown> = Promise.resolve();
  let open = uses;
  /** The track's reader accepts only a single call at a time. */
  const serialize = <Value>(call: () => Promise<Value>): Promise<Value> => {
    const mine = last.then(call);
    last = mine.catch(() => undefined);
    return mine;
  };
  const shared = (segment: ReadySegment): ReadySegment => {
    let left = uses;
    const release = async (): Promise<void> => {
      left -= 1;
      if (left === 0) await segment.release();
    };
    return { ...segment, release };
  };
  const newReader = (): TrackReader => {
    let taken = 0;
    return {
      header: () => serialize(() => reader.header()),
      next: (ended) =>
        serialize(async () => {
          segments.push(...(await reader.next(ended)).map(shared));
          const added = segments.slice(taken);
          taken = segments.length;
          return added;
        }),
      async close() {
        open -= 1;
        if (open === 0) await serialize(() => reader.close());
      },
    };
  };
  return Array.from({ length: uses }, newReader);
}
