// A package as a player finds it: its entry playlist, and all files that it references.
import { readDash } from "./stream-dash.ts";
import { readHls } from "./stream-hls.ts";

export type PackageSegment = {
  readonly url: string;
  /** Start in the playlist, in seconds from the video's start. */
  readonly start: number;
  readonly duration: number;
};

export type PackageTrack = {
  readonly id: string;
  readonly kind: "video" | "audio";
  readonly init: string | null;
  readonly segments: readonly PackageSegment[];
  /** Single frames inside the segments, from a playlist of keyframes. */
  readonly keyframes: readonly { readonly url: string; readonly offset: number; readonly length: number }[];
  readonly isEncrypted: boolean;
};

export type PackageVariant = {
  /** Ids of the tracks that are played together. */
  readonly tracks: readonly string[];
  readonly bandwidth: number;
  readonly codecs: string;
};

export type StreamPackage = {
  readonly entry: string;
  /** Addresses of all referenced files. */
  readonly files: readonly string[];
  readonly tracks: readonly PackageTrack[];
  readonly variants: readonly PackageVariant[];
  /** Addresses of whole WebVTT files or of their segments, a list for each text track. */
  readonly subtitles: readonly (readonly string[])[];
  /** The target duration of segments, in seconds; null if none is given. */
  readonly targetSeconds: number | null;
};

/** Reads a master playlist (.m3u8) or a manifest (.mpd). Throws if it, or a referenced playlist, cannot be parsed. */
export const readPackage = (entry: string): Promise<StreamPackage> =>
  new URL(entry).pathname.endsWith(".mpd") ? readDash(entry) : readHls(entry);
