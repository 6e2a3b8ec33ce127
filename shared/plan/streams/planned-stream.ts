// The tracks, variants and thumbnails of a planned stream. The packager reads the tracks while they are encoded.
import type { TrackTraits } from "../../job/audio-tracks.ts";
import type { Chapter } from "../../media/chapters.ts";
import type { Size } from "../source/frame-size.ts";
import type { ColorTags } from "../source/source-color.ts";
import type { TrackKind } from "../source/source-tracks.ts";

/**
 * Timestamp in the segments at time 0 of the output, in seconds. Audio starts a little before 0 (the encoder's priming)
 * and frames are decoded before they are shown, so the timeline needs room below 0. Without it each muxer would shift
 * its track by a different amount. Apple's mediafilesegmenter uses ten seconds too.
 */
export const STREAM_START_SECONDS = 10;

export type StreamVideo = {
  readonly frame: Size;
  /** Mean rate. */
  readonly fps: number;
  /** Color space of PQ or HLG; null: no HDR. */
  readonly hdr: ColorTags | null;
  /** True if the encoder gets closed captions, which it may copy. */
  readonly captions: boolean;
};

export type StreamTrack = {
  /** Names files, folders and playlists: lower case letters, digits and hyphens, such as `1080p` or `audio-128k`. */
  readonly name: string;
  readonly kind: TrackKind;
  /** Fragmented MP4 in the working folder, which only grows. Null if no package has such segments of the track. */
  readonly fmp4: string | null;
  /**
   * ffmpeg's playlist of finished MPEG-TS segments, which are in the same folder. Null if no package has such segments.
   */
  readonly ts: string | null;
  /** Null for audio. */
  readonly video: StreamVideo | null;
  /** Set for an audio track of a requested list. */
  readonly audio?: AudioRendition;
  /** BCP 47, for audio without a list whose language is known. */
  readonly language?: string;
};

/** Traits of an audio track. `number`: of the track in the output. `groups`: the encodings that have the track. */
export type AudioRendition = TrackTraits & { readonly number: number; readonly groups: string[] };

/**
 * A choice for players: names of tracks. `group`: all tracks in the encoding of the variant's audio; absent: the
 * variant has a single track.
 */
export type StreamVariant = { readonly video: string | null; readonly audio: string | null; readonly group?: string };

/** Sprite sheets for the player's seek bar. */
export type StreamThumbnails = {
  /** In the working folder, in the order of the sheets. */
  readonly files: readonly string[];
  /** WebVTT with cues for `thumbnails/00001.jpg#xywh=…` and so on. */
  readonly vtt: string;
  readonly spriteSheet: { readonly columns: number; readonly rows: number; readonly cell: Size };
  /** Distance of the thumbnails. The first thumbnail is shown from time 0 on. */
  readonly everyMs: number;
};

export type PlannedStream = {
  readonly tracks: readonly StreamTrack[];
  /** In the order of the request; variants without video come last. */
  readonly variants: readonly StreamVariant[];
  readonly thumbnails: StreamThumbnails | null;
  /** On the clock of the output. */
  readonly chapters: readonly Chapter[];
};
