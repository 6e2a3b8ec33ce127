// The names of a package's files. Entry files have fixed names; all other files are in the stream's folder next to
// them.

import type { SegmentFormat } from "#shared/job/output-spec.ts";

/** A playlist, manifest or text track. `file` is its name below the package's folder. */
export type TextFile = { readonly file: string; readonly text: string };

const EXTENSIONS = { mpegts: "ts", fmp4: "m4s" } as const satisfies Record<SegmentFormat, string>;
const DIGITS = 5;
const counted = (number: number): string => String(number).padStart(DIGITS, "0");

/**
 * The number of the segment at this index (from 0) of its track. The number is part of the file name. It is the media
 * sequence number (RFC 8216 §4.3.3.2), from which AES-128 derives the initialization vector (§5.2), and DASH's
 * `$Number$`.
 */
export const segmentNumber = (at: number): number => at + 1;

/** A file that players open, in the package's own folder. */
export const entryFile = (playlistName: string, kind: "m3u8" | "mpd" | "vtt" | "chapters.vtt"): string =>
  `${playlistName}.${kind}`;

/** The path of a file in the stream's folder, relative to the package's folder. */
export const inStreamFolder = (folder: string, file: string): string => `${folder}/${file}`;

// In the stream's folder:

export const segmentFile = (track: string, number: number, format: SegmentFormat): string =>
  `${track}/${counted(number)}.${EXTENSIONS[format]}`;
export const initFile = (track: string): string => `${track}/init.mp4`;
export const mediaPlaylistFile = (track: string): string => `${track}.m3u8`;
export const keyframePlaylistFile = (track: string): string => `${track}-keyframes.m3u8`;

/** The name of the folder and the playlist of text track number `number`, from 1, in the order of the request. */
export const subtitlesName = (number: number): string => `subtitles-${number}`;
export const subtitleSegmentFile = (track: string, number: number): string => `${track}/${counted(number)}.vtt`;
/** The whole text track in a single file. */
export const subtitleFile = (track: string): string => `${track}.vtt`;

export const THUMBNAIL_FOLDER = "thumbnails";
/** Sprite sheet number `number`, from 1. */
export const thumbnailFile = (number: number): string => `${THUMBNAIL_FOLDER}/${counted(number)}.jpg`;

/** File names of a track's segments and of sprite sheets as DASH templates (ISO 23009-1 §5.3.9.4.4). */
export const SEGMENT_TEMPLATE = `$RepresentationID$/$Number%0${DIGITS}d$.${EXTENSIONS.fmp4}`;
export const INIT_TEMPLATE = initFile("$RepresentationID$");
export const THUMBNAIL_TEMPLATE = `${THUMBNAIL_FOLDER}/$Number%0${DIGITS}d$.jpg`;

/** A relative URL to a file. The name is taken literally. */
export const urlOf = (file: string): string => file.split("/").map(encodeURIComponent).join("/");
