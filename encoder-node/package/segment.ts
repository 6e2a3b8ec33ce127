// What the packager knows of a track: its codec, and its segments with their keyframes. Pure data.

/** A keyframe inside a segment, for playlists of keyframes. */
export type Keyframe = {
  /**
   * Where it begins in the segment, in bytes: in MP4 with its `moof` box; in MPEG-TS without the tables before it, which a
   * range must not include (RFC 8216 §4.3.3.6).
   */
  readonly offset: number;
  readonly sizeBytes: number;
  /** When it is shown, in ticks. */
  readonly start: number;
};

/** Times in ticks of its track's timescale, on the segments' own line, which begins at STREAM_START_SECONDS. */
export type Segment = {
  /** When its first frame is shown. */
  readonly start: number;
  readonly duration: number;
  readonly sizeBytes: number;
  /** None for sound. */
  readonly keyframes: readonly Keyframe[];
};

/** What players must know of a track before they open it. */
export type TrackDescription = {
  /** As in RFC 6381: `avc1.640028`, `hvc1.1.6.L93.90`, `mp4a.40.2`. */
  readonly codec: string;
  /** Null for sound; square pixels. `fps` is the mean. */
  readonly picture: { readonly width: number; readonly height: number; readonly fps: number } | null;
  /** Null for pictures. */
  readonly sound: { readonly channels: number; readonly sampleRateHz: number } | null;
};

/** A track as one package has it, complete. */
export type PackagedTrack = TrackDescription & {
  /** Names its folder and its playlists. */
  readonly name: string;
  readonly timescale: number;
  readonly segments: readonly Segment[];
};
