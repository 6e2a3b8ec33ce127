// What the ffmpeg that will run a plan can do.
import type { Capabilities } from "../../protocol/protocol.ts";
import { SOFTWARE_ENCODERS } from "../encoders/encoders.ts";
import { FILTERS, MUXERS } from "./build-features.ts";

/** Everything by ffmpeg's names: what was found to work on a node when it started. */
export type Can = Readonly<Pick<Capabilities, "encoders" | "filters" | "muxers" | "hardware">>;

/** A node with all that plans use and no hardware: assumed where it is not known yet which node will do the work. */
export const ALL_SOFTWARE: Can = {
  encoders: [...SOFTWARE_ENCODERS],
  filters: [...FILTERS],
  muxers: [...MUXERS],
  hardware: null,
};
