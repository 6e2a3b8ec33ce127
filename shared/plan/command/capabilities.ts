// What the ffmpeg that will run a plan can do.
import type { Capabilities } from "../../protocol/capabilities.ts";
import { SOFTWARE_ENCODERS } from "../encoders/encoders.ts";
import { OPTIONAL_FILTERS, OPTIONAL_MUXERS } from "./build-features.ts";

/** Everything by ffmpeg's names: what was found to work on a node when it started. */
export type FfmpegCapabilities = Readonly<Pick<Capabilities, "encoders" | "filters" | "muxers" | "hardware">>;

/** A node with all that plans use and no hardware: assumed where it is not known yet which node will do the work. */
export const ALL_SOFTWARE: FfmpegCapabilities = {
  encoders: [...SOFTWARE_ENCODERS],
  filters: [...OPTIONAL_FILTERS],
  muxers: [...OPTIONAL_MUXERS],
  hardware: null,
};
