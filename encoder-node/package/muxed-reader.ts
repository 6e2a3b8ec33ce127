// A variant whose MPEG-TS segments hold video and audio: made of the segments of both tracks as these become complete.
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
  /** Where the segment with this number, from 0, is written. */
  readonly pathOf: (number: number) => string;
};

/** Audio that goes on for less than this behind the video is in its last segment. In ticks. */
const SHORTEST = 0.5 * TICKS_PER_SECOND;

/** Segments are cut where those of the video are; what audio there is behind the last one has segments of its own. */
export function muxedReader({ video, audio, segmentSeconds, pathOf }: MuxedTracks): TrackReader {
  const waitingVideo: ReadySegment[] = [];
  const sound = audioQueue();
  let streams: { video: PesIndex["stream"] | null; audio: PesIndex["stream"] | null } = { video: null, audio: null };
  let near = STREAM_START_SECONDS * TICKS_PER_SECOND;
  let written = 0;

  const write = async (start: number, end: number, shown: readonly PesSpan[]): Promise<ReadySegment> => {
    if (!streams.video || !streams.audio) throw new Error("A variant without one of its tracks");
    const path = pathOf(written);
    const spans: MuxedSegment["audio"] = sound.before(end);
    const own = { video: streams.video, audio: streams.audio };
    const sizeBytes = await writeMuxed(path, { video: shown, audio: spans, streams: own, number: written });
    await sound.drop(spans.length);
    written += 1;
    near = end;
    // Keyframes are named by playlists of a higher version than the one that has such segments.
    const segment = { start, duration: end - start, sizeBytes, keyframes: [] };
    return { segment, path, offset: 0, release: fileRelease(path) };
  };
  const writeVideo = async (ready: ReadySegment, isLast: boolean): Promise<ReadySegment> => {
    const { start, duration } = ready.segment;
    const index = await indexPes(ready.path, start);
    streams = { ...streams, video: index.stream };
    const end = start + duration;
    const isTailShort = sound.end() > end && sound.end() - end < SHORTEST;
    const made = await write(start, isLast && isTailShort ? sound.end() : end, index.spans);
    await ready.release();
    return made;
  };

  return {
    async header() {
      const [shown, heard] = [await video.header(), await audio.header()];
      return shown && heard && { ...shown, codec: `${shown.codec},${heard.codec}`, sound: heard.sound };
    },
    async next(ended) {
      waitingVideo.push(...(await video.next(ended)));
      for (const ready of await audio.next(ended)) {
        const index = await indexPes(ready.path, ready.segment.start);
        streams = { ...streams, audio: index.stream };
        sound.add(ready, index.spans);
      }
      const made: ReadySegment[] = [];
      for (let [next] = waitingVideo; next; [next] = waitingVideo) {
        const { start, duration } = next.segment;
        if (!ended && sound.end() < start + duration) break;
        made.push(await writeVideo(next, ended && waitingVideo.length === 1));
        waitingVideo.shift();
      }
      while (ended && sound.end() > near) {
        const end = near + segmentSeconds * TICKS_PER_SECOND;
        made.push(await write(near, sound.end() - end < SHORTEST ? sound.end() : end, []));
      }
      return made;
    },
    async close() {
      await Promise.all([video.close(), audio.close()]);
    },
  };
}

/** Audio that is in no segment yet. Its files are released when all of what they hold is. */
function audioQueue() {
  const waiting: (PesSpan & { readonly isLastOf: ReadySegment | null })[] = [];
  let end = 0;
  return {
    add(ready: ReadySegment, spans: readonly PesSpan[]): void {
      const last = spans.length - 1;
      waiting.push(...spans.map((span, at) => ({ ...span, isLastOf: at === last ? ready : null })));
      end = ready.segment.start + ready.segment.duration;
    },
    /** When what has come so far ends, in ticks. */
    end: (): number => end,
    /**
     * What ends by this time, in ticks. A packet of several frames that goes on behind it is for the next segment: where
     * players begin with that, they have audio from its first frame on.
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
