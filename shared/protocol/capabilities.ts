// A node's report about its ffmpeg, hardware and sandbox.
import * as z from "zod";
import { FontName } from "../job/burn.ts";
import { FolderName } from "../job/folder-url.ts";
import { MAX_NAME_CHARS, MAX_NAMES } from "../report-limits.ts";
import { DevicePath, FfmpegName, Line } from "./reported-text.ts";

/** Interfaces through which ffmpeg uses hardware encoders, in the order in which nodes probe them. */
export const HARDWARE_NAMES = ["nvenc", "qsv", "vaapi", "videotoolbox"] as const;
export type HardwareName = (typeof HARDWARE_NAMES)[number];

/** More fonts of a node have no names. */
export const MAX_FONTS = 200;
export const MAX_FOLDERS = 50;
const MAX_CPUS = 100_000;
const Names = z.array(FfmpegName).max(MAX_NAMES);

/** Hardware that a node encodes with. */
export const Hardware = z.object({
  name: z.enum(HARDWARE_NAMES),
  /** DRM render node of the device; null if there is no choice of devices. */
  path: DevicePath.nullable(),
  /** ffmpeg's names, such as `h264_nvenc`. Each encoder has encoded a frame, or exists and had no free session. */
  encoders: Names,
});
export type Hardware = z.infer<typeof Hardware>;

/** Isolation of a node's ffmpeg runs: full, without the features in `missing`, or none. */
export const NodeIsolation = z.object({
  level: z.enum(["full", "partial", "none"]),
  missing: z.array(z.enum(["files", "processes", "privileges", "network", "limits"])).max(5),
});
export type NodeIsolation = z.infer<typeof NodeIsolation>;

/** Features of a node besides ffmpeg. */
export const NODE_FEATURES = ["speech"] as const;

/** Features of a node's ffmpeg, by ffmpeg's names. */
export const Capabilities = z.object({
  ffmpegVersion: Line(MAX_NAME_CHARS),
  /** Software encoders. Each has encoded a frame. */
  encoders: Names,
  cpus: z.int().min(0).max(MAX_CPUS),
  /** Filters that plans use and this ffmpeg has. `muxers`: likewise. */
  filters: Names,
  muxers: Names,
  hardware: Hardware.nullable(),
  /** Decoders of captions that are images. */
  decoders: Names.exactOptional(),
  isolation: NodeIsolation.exactOptional(),
  features: z.array(z.enum(NODE_FEATURES)).max(NODE_FEATURES.length).exactOptional(),
  /** Fonts for burnt-in captions, by name. */
  fonts: z.array(FontName).max(MAX_FONTS).exactOptional(),
  /** Folders of the operator, for sources and outputs. */
  folders: z
    .array(z.object({ name: FolderName, isWritable: z.boolean() }))
    .max(MAX_FOLDERS)
    .exactOptional(),
});
export type Capabilities = z.infer<typeof Capabilities>;

/**
 * Maximum JSON characters. Real capabilities have some thousand. A hub keeps the capabilities of all its nodes in
 * memory.
 */
const MAX_CHARS = 64 * 1024;

/** Capabilities as a node reports them. */
export const ReportedCapabilities = Capabilities.refine(
  (given) => JSON.stringify(given).length <= MAX_CHARS,
  "The capabilities are too long",
);
