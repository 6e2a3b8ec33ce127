// Limits of nodes' reports. Correct nodes never reach them. Reports beyond a limit are rejected before any use.

/** Slots of a class that a node may offer at a time. */
export const MAX_SLOTS = 64;
/** Leases that a node may hold at a time, including leases that wait for the network and take no encoder slot. */
export const MAX_LEASES = 128;

/** A DNS name (RFC 1035 §2.3.4). */
export const MAX_HOST_CHARS = 253;
/** 8 PiB: the largest integer that JSON carries without loss. */
export const MAX_DISK_BYTES = Number.MAX_SAFE_INTEGER;

/** A week: no run of ffmpeg takes longer (encoder-node/ffmpeg/limits.ts). */
export const MAX_LENGTH_MS = 7 * 24 * 60 * 60 * 1000;
/** About 80 frames per second for a week. */
export const MAX_FRAMES = 50_000_000;
/** 64 TiB, above the largest object of any storage service (S3: 50 TB). */
export const MAX_FILE_BYTES = 2 ** 46;

/** Far above the 30 outputs of a job (request/outputs/outputs-section.ts) and the about 1000 images of an output. */
export const MAX_OUTPUT_INDEX = 9_999;
export const MAX_FILE_NUMBER = 99_999;
/** Upload parts of a file: R2 and S3 allow 10,000, Azure 50,000 blocks. */
export const MAX_PARTS = 50_000;
/** ETags usually have 34 characters; some services use a few more. */
export const MAX_ETAG_CHARS = 512;
/** Tracks of all outputs of a job: 30 outputs of 20 renditions. */
export const MAX_TRACKS = 1_000;
/** ffmpeg has fewer than 600 encoders, filters or muxers. */
export const MAX_NAMES = 2_000;
export const MAX_NAME_CHARS = 200;

/** ffprobe prints integers of the C type `int`. */
export const MAX_INT32 = 2 ** 31 - 1;
/** Streams of a file; ffmpeg opens at most 1000 by default (`-max_streams`). */
export const MAX_STREAMS = 10_000;
