// Finds the capabilities of this machine's ffmpeg by trial. A build may list an encoder that does not work.

import { availableParallelism } from "node:os";
import { AppError } from "#shared/errors.ts";
import type { Logger } from "#shared/log.ts";
import { BITMAP_CODECS, OPTIONAL_FILTERS, OPTIONAL_MUXERS } from "#shared/plan/command/capabilities.ts";
import type { SoftwareEncoder } from "#shared/plan/encoders/software-encoders.ts";
import type { Capabilities, Hardware } from "#shared/protocol/capabilities.ts";
import { findHardware, type HardwareChoice, type HardwareFinding } from "./hardware.ts";
import { listEncoders, listFeatures } from "./listings.ts";
import type { Tool } from "./locate.ts";
import { findSoftwareEncoders, NOT_BUILT_IN, type SoftwareFinding } from "./software-encoders.ts";

export type ProbeDeps = {
  readonly ffmpeg: Tool;
  readonly hw: HardwareChoice;
  /** The file that stores which software encoders worked. */
  readonly cacheFile: string;
  readonly log: Logger;
};

/** Without these encoders a node would fail nearly every job. */
const REQUIRED: readonly SoftwareEncoder[] = ["libx264", "aac"];

/**
 * Finds and logs the machine's capabilities. Takes a second with an empty cache. Throws AppError
 * `encoder_not_available` when a required encoder, or hardware that was requested by name, does not work.
 */
export async function probeCapabilities({ ffmpeg, hw, cacheFile, log }: ProbeDeps): Promise<Capabilities> {
  const listed = await listEncoders(ffmpeg);
  const [software, hardware, filters, muxers, decoders] = await Promise.all([
    findSoftwareEncoders(ffmpeg, listed, cacheFile),
    findHardware(ffmpeg, hw),
    listFeatures(ffmpeg, "filters"),
    listFeatures(ffmpeg, "muxers"),
    listFeatures(ffmpeg, "decoders"),
  ]);
  requireSoftware(ffmpeg, software);
  requireHardware(hw, hardware);
  const capabilities = {
    ffmpegVersion: ffmpeg.version,
    encoders: [...software.works],
    cpus: availableParallelism(),
    filters: OPTIONAL_FILTERS.filter((name) => filters.has(name)),
    muxers: OPTIONAL_MUXERS.filter((name) => muxers.has(name)),
    decoders: [...BITMAP_CODECS.values()].filter((name) => decoders.has(name)),
    hardware: hardware.hardware,
  };
  logFindings(capabilities, software, hw, hardware, log);
  return capabilities;
}

function requireSoftware({ path }: Tool, { unusable }: SoftwareFinding): void {
  for (const encoder of REQUIRED) {
    const reason = unusable.get(encoder);
    if (reason === undefined) continue;
    const advice = `Install an ffmpeg with ${REQUIRED.join(" and ")}, or set FFMPEG_PATH to such a build`;
    throw new AppError(
      "encoder_not_available",
      `The ffmpeg at ${path} cannot encode with ${encoder}: ${reason}. ${advice}.`,
    );
  }
}

function requireHardware(hw: HardwareChoice, { hardware, failures }: HardwareFinding): void {
  if (hw === "auto" || hw === "off" || hardware) return;
  const message = `--hw ${hw} does not work on this machine (${failures.join("; ")})`;
  throw new AppError("encoder_not_available", `${message}. Use --hw auto to start the node without it.`);
}

function logFindings(
  { ffmpegVersion, encoders, filters, muxers, hardware }: Capabilities,
  { unusable }: SoftwareFinding,
  hw: HardwareChoice,
  { failures }: HardwareFinding,
  log: Logger,
): void {
  const features = [...OPTIONAL_FILTERS, ...OPTIONAL_MUXERS].filter(
    (name) => !filters.includes(name) && !muxers.includes(name),
  );
  const missing = [...unusable].map(([encoder, why]) => (why === NOT_BUILT_IN ? encoder : `${encoder} (${why})`));
  log.info("ffmpeg capabilities detected", {
    ffmpeg: ffmpegVersion,
    encoders: encoders.join(", "),
    hardware: nameOf(hardware),
    missing: [...missing, ...features].join(", ") || "none",
  });
  if (failures.length === 0) return;
  log.info("hardware encoders not usable", { hw, reason: failures.join("; "), used: hardware ? "others" : "software" });
}

/** The name with its codecs, such as `nvenc (h264, hevc, av1)`. */
function nameOf(hardware: Hardware | null): string {
  if (!hardware) return "none";
  const codecs = hardware.encoders.map((encoder) => encoder.replace(`_${hardware.name}`, ""));
  const where = hardware.path === null ? "" : ` at ${hardware.path}`;
  return `${hardware.name} (${codecs.join(", ")})${where}`;
}
