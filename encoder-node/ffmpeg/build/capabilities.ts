// What this machine's ffmpeg can do, found out by trying: a listed encoder is only a promise.
import { availableParallelism } from "node:os";
import { AppError } from "#shared/errors.ts";
import type { Logger } from "#shared/log.ts";
import { FILTERS, MUXERS } from "#shared/plan/command/build-features.ts";
import type { SoftwareEncoder } from "#shared/plan/encoders/encoders.ts";
import type { Capabilities, Hardware } from "#shared/protocol/protocol.ts";
import { findHardware, type HardwareChoice, type HardwareFinding } from "./hardware.ts";
import { knownHoles } from "./known-vulnerabilities.ts";
import { listEncoders, listParts } from "./listings.ts";
import type { Tool } from "./locate.ts";
import { BUILT_WITHOUT, findSoftwareEncoders, type SoftwareFinding } from "./software-encoders.ts";

export type ProbeDeps = {
  readonly ffmpeg: Tool;
  readonly ffprobe: Tool;
  readonly hw: HardwareChoice;
  /** Where the software encoders that worked are remembered. */
  readonly cacheFile: string;
  readonly log: Logger;
};

/** Without these a node would fail nearly every job it takes. */
const REQUIRED: readonly SoftwareEncoder[] = ["libx264", "aac"];

/**
 * The machine's capabilities, which it logs. Takes one second with an empty cache. Throws AppError
 * `encoder_not_available` when a required encoder, or the hardware that was asked for by name, does not work.
 */
export async function probeCapabilities({ ffmpeg, ffprobe, hw, cacheFile, log }: ProbeDeps): Promise<Capabilities> {
  const listed = await listEncoders(ffmpeg);
  const [software, hardware, filters, muxers] = await Promise.all([
    findSoftwareEncoders(ffmpeg, listed, cacheFile),
    findHardware(ffmpeg, hw),
    listParts(ffmpeg, "filters"),
    listParts(ffmpeg, "muxers"),
  ]);
  requireSoftware(ffmpeg, software);
  requireHardware(hw, hardware);
  const vulnerabilities = [...new Set([ffmpeg, ffprobe].flatMap(({ version }) => knownHoles(version).open))];
  const capabilities = {
    ffmpegVersion: ffmpeg.version,
    encoders: [...software.works],
    cpus: availableParallelism(),
    filters: FILTERS.filter((name) => filters.has(name)),
    muxers: MUXERS.filter((name) => muxers.has(name)),
    hardware: hardware.hardware,
    ...(vulnerabilities.length > 0 ? { vulnerabilities } : {}),
  };
  logFindings(capabilities, software, hw, hardware, log);
  return capabilities;
}

function requireSoftware({ path }: Tool, { refused }: SoftwareFinding): void {
  for (const encoder of REQUIRED) {
    const reason = refused.get(encoder);
    if (reason === undefined) continue;
    const advice = `Install an ffmpeg with ${REQUIRED.join(" and ")}, or set FFMPEG_PATH to one`;
    throw new AppError(
      "encoder_not_available",
      `The ffmpeg at ${path} cannot encode with ${encoder}: ${reason}. ${advice}.`,
    );
  }
}

function requireHardware(hw: HardwareChoice, { hardware, refusals }: HardwareFinding): void {
  if (hw === "auto" || hw === "off" || hardware) return;
  const message = `--hw ${hw} was asked for and does not work (${refusals.join("; ")})`;
  throw new AppError("encoder_not_available", `${message}. Use --hw auto to go on without.`);
}

function logFindings(
  { ffmpegVersion, encoders, filters, muxers, hardware }: Capabilities,
  { refused }: SoftwareFinding,
  hw: HardwareChoice,
  { refusals }: HardwareFinding,
  log: Logger,
): void {
  const parts = [...FILTERS, ...MUXERS].filter((name) => !filters.includes(name) && !muxers.includes(name));
  const lacking = [...refused].map(([encoder, why]) => (why === BUILT_WITHOUT ? encoder : `${encoder} (${why})`));
  log.info("What this node can do", {
    ffmpeg: ffmpegVersion,
    encoders: encoders.join(", "),
    hardware: nameOf(hardware),
    lacking: [...lacking, ...parts].join(", ") || "nothing",
  });
  if (refusals.length === 0) return;
  const what = hardware ? "Hardware encoders passed over" : "No hardware encoder works, encoding in software";
  log.info(what, { hw, reason: refusals.join("; ") });
}

/** Such as `nvenc (h264, hevc, av1)`. */
function nameOf(hardware: Hardware | null): string {
  if (!hardware) return "none";
  const codecs = hardware.encoders.map((encoder) => encoder.replace(`_${hardware.name}`, ""));
  const where = hardware.path === null ? "" : ` at ${hardware.path}`;
  return `${hardware.name} (${codecs.join(", ")})${where}`;
}
