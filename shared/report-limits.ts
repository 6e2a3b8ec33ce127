// Bounds of what nodes say. An honest node never reaches one; what is beyond is refused before anything is computed from it.

/** Slots of one class that a node may offer at a time. */
export const MAX_SLOTS = 64;
/** Leases that a node may hold at a time, those included that wait for the network and take no slot of an encoder. */
export const MAX_LEASES = 128;

/** A week: no run of ffmpeg takes longer (encoder-node/ffmpeg/limits.ts). */
export const MAX_LENGTH_MS = 7 * 24 * 60 * 60 * 1000;
/** Some 80 frames a second for a week. */
export const MAX_FRAMES = 50_000_000;
/** 64 TiB, above the largest object of any storage service (S3: 50 TB). */
export const MAX_FILE_BYTES = 2 ** 46;

/** Outputs of a job are at most 30 (request/outputs-section.ts), images of one at most 1000 or so; both are far below. */
export const MAX_OUTPUT_INDEX = 9_999;
export const MAX_FILE_NUMBER = 99_999;
/** Parts of one file: R2 and S3 allow 10,000, Azure 50,000 blocks. */
export const MAX_PARTS = 50_000;
/** ETags have 34 characters, those of some services a little more. */
export const MAX_ETAG_CHARS = 512;
/** Tracks of all outputs of a job: 30 outputs of 20 renditions. */
export const MAX_TRACKS = 1_000;
/** What ffmpeg lists of encoders, filters or muxers is below 600. */
export const MAX_NAMES = 2_000;
export const MAX_NAME_CHARS = 200;

/** Integers that ffprobe prints are `int` in C. */
export const MAX_INT32 = 2 ** 31 - 1;
/** Streams of a file, of which ffmpeg itself opens at most 1000 by default (`-max_streams`). */
export const MAX_STREAMS = 10_000;
