// Limits ffprobe's data in the state of a job: an entry of its storage holds 2 MB, and a character may take two bytes.
import { boundedProbe, type MediaProbe } from "#shared/media/media-probe.ts";
import type { OutputReport, StreamProbes } from "#shared/protocol/reports.ts";
import type { OutputState } from "./job-state.ts";

/** In characters of JSON. */
const MAX_INPUT_CHARS = 300_000;
/** Limit for all outputs together, which share an entry. */
const MAX_OUTPUTS_CHARS = 750_000;
/** Limit for an output that is a file; there is room for 30 files. */
const MAX_FILE_CHARS = 25_000;
/** Limit for a stream's package: 20 renditions with an audio track each, at about 1500 characters per track. */
const MAX_PACKAGE_CHARS = 75_000;

export const boundedInputProbe = (probe: MediaProbe): MediaProbe => boundedProbe(probe, MAX_INPUT_CHARS);

/** The part of an output's probes that is stored, in a job with this many outputs. */
export function boundedProbes(
  { probe, packages }: OutputReport & { status: "made" },
  outputCount: number,
): Pick<OutputState, "probe" | "packages"> {
  const file = { probe: probe && boundedProbe(probe, MAX_FILE_CHARS) };
  if (!packages) return file;
  const share = Math.floor(MAX_OUTPUTS_CHARS / outputCount / 2);
  const maxChars = Math.min(MAX_PACKAGE_CHARS, share);
  const bounded: StreamProbes = {};
  if (packages.hls) bounded.hls = boundedProbe(packages.hls, maxChars);
  if (packages.dash) bounded.dash = boundedProbe(packages.dash, maxChars);
  return { ...file, packages: bounded };
}
