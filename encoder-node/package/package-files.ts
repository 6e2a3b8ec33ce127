// The names of a package's files: the entry files at fixed addresses, and all else in the stream's folder beside them.

import type { SegmentFormat } from "#shared/job/output-spec.ts";

/** A playlist, manifest or text track: `file` is its name below the package's folder. */
export type PackageText = { readonly file: string; readonly text: string };

const EXTENSIONS = { mpegts: "ts", fmp4: "m4s" } as const satisfies Record<SegmentFormat, string>;
const DIGITS = 5;
const counted = (number: number): string => String(number).padStart(DIGITS, "0");

/**
 * The number of the segment at this place (from 0) of its track: in its file's name, as its media sequence number (RFC 8216
 * §4.3.3.2), of which AES-128 makes the initialization vector (§5.2), and as DASH's `$Number$`.
 */
export const segmentNumber = (at: number): number => at + 1;

/** What players choose from, in the package's own folder. */
export const entryFile = (playlistName: string, kind: "m3u8" | "mpd" | "vtt"): string => `${playlistName}.${kind}`;

/** A file of the stream's folder, as seen from the package's. */
export const inStreamFolder = (folder: string, file: string): string => `${folder}/${file}`;

// In the stream's folder:

export const segmentFile = (track: string, number: number, format: SegmentFormat): string =>
  `${track}/${counted(number)}.${EXTENSIONS[format]}`;
export const initFile = (track: string): string => `${track}/init.mp4`;
export const mediaPlaylistFile = (track: string): string => `${track}.m3u8`;
export const keyframePlaylistFile = (track: string): string => `${track}-keyframes.m3u8`;

/** Text track number `number`, from 1, in the order of the request: its folder and its playlist are named so. */
export const subtitlesName = (number: number): string => `subtitles-${number}`;
export const subtitleSegmentFile = (track: string, number: number): string => `${track}/${counted(number)}.vtt`;
/** The text track as a whole. */
export const subtitleFile = (track: string): string => `${track}.vtt`;

export const THUMBNAIL_FOLDER = "thumbnails";
/** Sheet number `number`, from 1. */
export const thumbnailFile = (number: number): string => `${THUMBNAIL_FOLDER}/${counted(number)}.jpg`;

/** The names of all of a track's segments, and of all sheets, in DASH's templates (ISO 23009-1 §5.3.9.4.4). */
export const SEGMENT_TEMPLATE = `$RepresentationID$/$Number%0${DIGITS}d$.${EXTENSIONS.fmp4}`;
export const INIT_TEMPLATE = initFile("$RepresentationID$");
export const THUMBNAIL_TEMPLATE = `${THUMBNAIL_FOLDER}/$Number%0${DIGITS}d$.jpg`;

/** A relative URL to a file, whose name is taken literally. */
export const urlOf = (file: string): string => file.split("/").map(encodeURIComponent).join("/");
