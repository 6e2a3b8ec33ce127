// What ffmpeg leaves behind of a stream, for the packager: tracks that grow while they are encoded.

import type { TrackKind } from "../command/output-plan.ts";
import type { Size } from "../filters/fit-frame.ts";

/**
 * Where the output's time 0 lies on the line of the segments' own time stamps, in seconds. Sound begins a little before 0
 * (the encoder's priming) and pictures are decoded before they are shown, so the line needs room below 0; without it
 * each muxer would move its track by another amount. Ten seconds is what Apple's mediafilesegmenter has.
 */
export const STREAM_START_SECONDS = 10;

export type StreamTrack = {
  /** Names files, folders and playlists: lower case letters, digits and hyphens, such as `1080p` or `audio-128k`. */
  readonly name: string;
  readonly kind: TrackKind;
  /** Fragmented MP4 in the working folder: it only grows. Null when no package has such segments of it. */
  readonly fmp4: string | null;
  /** ffmpeg's playlist of finished MPEG-TS segments, which lie beside it. Null when no package has such segments of it. */
  readonly ts: string | null;
  /** Null for sound. `fps` is the mean. */
  readonly video: { readonly frame: Size; readonly fps: number } | null;
};

/** What players choose from: names of tracks. */
export type StreamVariant = { readonly video: string | null; readonly audio: string | null };

/** Sheets of small pictures for the player's seek bar. */
export type StreamThumbnails = {
  /** In the working folder: sheet number one is the first. */
  readonly files: readonly string[];
  /** WebVTT whose cues point at `thumbnails/00001.jpg#xywh=…` and so on. */
  readonly vtt: string;
  readonly spriteSheet: { readonly columns: number; readonly rows: number; readonly cell: Size };
  /** Distance of the pictures, the first of which stands for the time from 0 on. */
  readonly everyMs: number;
};

export type PlannedStream = {
  readonly tracks: readonly StreamTrack[];
  /** In the order of the request, sound alone last. */
  readonly variants: readonly StreamVariant[];
  readonly thumbnails: StreamThumbnails | null;
};
