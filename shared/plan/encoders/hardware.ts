// Hardware encoders: their names, and the options and filters that give ffmpeg access to them.
import type { HardwareName } from "../../protocol/capabilities.ts";
import { chainText } from "../command/filter-text.ts";
import { trialArguments, VIDEO_TRIAL_SOURCE } from "./software-encoders.ts";

/** Codecs that may be encoded in hardware. */
export const HARDWARE_CODECS = ["h264", "hevc", "av1"] as const;
export type HardwareCodec = (typeof HARDWARE_CODECS)[number];

/** ffmpeg's name of an encoder. Some names do not exist: VideoToolbox has no encoder for AV1. */
export const hardwareEncoder = (codec: HardwareCodec, name: HardwareName): `${HardwareCodec}_${HardwareName}` =>
  `${codec}_${name}`;

/** A device to encode on. `path`: its DRM render node; null if there is no choice. */
export type HardwareDevice = { readonly name: HardwareName; readonly path: string | null };

/**
 * Options before the first input that open the device; none if the encoder opens it by itself. QSV gets its render node
 * as a child device. Otherwise, with several graphics cards, QSV would use the first card, even of another vendor.
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

/** Filters between NV12 frames and the encoder. VAAPI does not accept frames from main memory. */
export const uploadFilters = (name: HardwareName): string[] => (name === "vaapi" ? ["hwupload"] : []);

/** ffmpeg's arguments to encode a single frame with a hardware encoder on this device, without writing it. */
export const hardwareTrial = (codec: HardwareCodec, device: HardwareDevice): string[] => {
  const filters = chainText(["format=nv12", ...uploadFilters(device.name)]);
  const encoder = hardwareEncoder(codec, device.name);
  return [
    ...deviceArguments(device),
    ...trialArguments(encoder, [VIDEO_TRIAL_SOURCE, "-frames:v", "1", "-vf", filters]),
  ];
};
