// How much a job keeps of what ffprobe says: an entry of its storage has 2 MB, and characters may take two bytes.
import { boundedProbe, type MediaProbe } from "#shared/media/media-probe.ts";
import type { OutputReport } from "#shared/protocol/protocol.ts";
import type { OutputState } from "./job-state.ts";

/** In characters of JSON. */
const MAX_INPUT_CHARS = 300_000;
/** Of all outputs together, which share an entry. */
const MAX_OUTPUTS_CHARS = 750_000;
/** Of an output that is a file; 30 outputs have room for as much. */
const MAX_FILE_CHARS = 25_000;
/** Of a stream's package: 20 renditions with a sound track each, of some 1500 characters a track. */
const MAX_PACKAGE_CHARS = 75_000;

export const boundedInputProbe = (probe: MediaProbe): MediaProbe => boundedProbe(probe, MAX_INPUT_CHARS);

/** What is kept of an output's probes, in a job of so many outputs. */
export function boundedProbes(
  { probe, packages }: OutputReport & { status: "made" },
  outputCount: number,
): Pick<OutputState, "probe" | "packages"> {
  const file = { probe: probe && boundedProbe(probe, MAX_FILE_CHARS) };
  if (!packages) return file;
  const share = Math.floor(MAX_OUTPUTS_CHARS / outputCount / 2);
  const bounded = (of: MediaProbe): MediaProbe => boundedProbe(of, Math.min(MAX_PACKAGE_CHARS, share));
  return {
    ...file,
    packages: {
      ...(packages.hls ? { hls: bounded(packages.hls) } : {}),
      ...(packages.dash ? { dash: bounded(packages.dash) } : {}),
    },
  };
}
