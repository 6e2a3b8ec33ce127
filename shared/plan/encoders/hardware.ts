// Encoders in hardware: their names, and how ffmpeg is led to them.

import type { HardwareName } from "../../protocol/capabilities.ts";

/** The codecs for which hardware is used. */
export const HARDWARE_CODECS = ["h264", "hevc", "av1"] as const;
export type HardwareCodec = (typeof HARDWARE_CODECS)[number];

/** ffmpeg's name of an encoder; not each of them exists (VideoToolbox has none for AV1). */
export const hardwareEncoder = (codec: HardwareCodec, name: HardwareName): `${HardwareCodec}_${HardwareName}` =>
  `${codec}_${name}`;

/** A device to encode on; `path` is its DRM render node, and null where there is nothing to choose. */
export type HardwareDevice = { readonly name: HardwareName; readonly path: string | null };

/**
 * Options before the first input that open the device; none where the encoder opens it by itself.
 * QSV names its render node as a child device: with several cards it would take the first, whosever it is.
 */
export function deviceArguments({ name, path }: HardwareDevice): string[] {
  switch (name) {
    case "vaapi":
      return ["-init_hw_device", path === null ? "vaapi=hw" : `vaapi=hw:${path}`, "-filter_hw_device", "hw"];
    case "qsv":
      return ["-init_hw_device", path === null ? "qsv=hw" : `qsv=hw,child_device=${path}`];
    default:
      return [];
  }
}

/** Filters at the end of a chain whose frames go into the encoder: only VAAPI takes none from main memory. */
export const uploadFilters = (name: HardwareName): string[] =>
  name === "vaapi" ? ["format=nv12", "hwupload"] : ["format=nv12"];
