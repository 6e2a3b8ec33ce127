// The packager's description of tracks: the codec, and the segments with their keyframes. Pure data.

import type { ColorTags } from "#shared/plan/source/source-color.ts";
import type { AudioRendition } from "#shared/plan/streams/planned-stream.ts";

/** A keyframe inside a segment, for keyframe playlists. */
export type Keyframe = {
  /**
   * Its position in the segment in bytes. In MP4 it starts with its `moof` box. In MPEG-TS it starts after the tables,
   * which a range must not include (RFC 8216 §4.3.3.6).
   */
  readonly offset: number;
  readonly sizeBytes: number;
  /** Its presentation time, in ticks. */
  readonly start: number;
};

/** The smallest unit of a segment: an MP4 fragment or an MPEG-TS file. Times are in ticks. */
export type Piece = {
  /** The presentation time of its first frame. */
  readonly start: number;
  /** The end of its last frame. */
  readonly end: number;
  readonly sizeBytes: number;
  /** Offsets are relative to the piece. */
  readonly keyframes: readonly Keyframe[];
};

/** Times are in ticks of the track's timescale, on the stream's timeline, which starts at STREAM_START_SECONDS. */
export type Segment = {
  /** The presentation time of its first frame. */
  readonly start: number;
  readonly duration: number;
  readonly sizeBytes: number;
  /** Empty for audio. */
  readonly keyframes: readonly Keyframe[];
};

/** Properties of a track that players must know before they open it. */
export type TrackDescription = {
  /** As in RFC 6381: `avc1.640028`, `hvc1.1.6.L93.90`, `mp4a.40.2`. */
  readonly codec: string;
  /**
   * Null for an audio track. Pixels are square. `fps` is the mean frame rate, `hdr` the color space of PQ or HLG.
   * `captions`: frames have closed captions.
   */
  readonly video: {
    readonly width: number;
    readonly height: number;
    readonly fps: number;
    readonly hdr: ColorTags | null;
    readonly captions: boolean;
  } | null;
  /** Null for a video track without audio. */
  readonly audio: { readonly channels: number; readonly sampleRateHz: number } | null;
};

/** A complete track of a package. */
export type PackagedTrack = TrackDescription & {
  /** The name of its folder and its playlists. */
  readonly name: string;
  readonly timescale: number;
  readonly segments: readonly Segment[];
  /** Set for an audio track of a requested list. */
  readonly rendition?: AudioRendition;
  /** BCP 47, for audio without a list whose language is known. */
  readonly language?: string;
};
