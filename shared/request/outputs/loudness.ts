// The parameter `loudness` of outputs with encoded audio.
import * as z from "zod";
import type { LoudnessSpec } from "../../job/loudness.ts";
import { PARAMETERS } from "../../parameters/parameter.ts";
import { strictObject } from "../../strict-object.ts";

/** Bounds of the target in LUFS, of the true peak in dBTP and of the tolerance in LU, with defaults. */
const TARGET = { min: -31, max: -5 };
const TRUE_PEAK = { min: -9, max: 0, default: -1 };
const TOLERANCE = { min: 0.1, max: 2, default: 0.2 };

const within = ({ min, max }: { readonly min: number; readonly max: number }, unit: string) =>
  z
    .number(`must be a number of ${unit} from ${min} to ${max}`)
    .min(min, `must be ${min} ${unit} or more`)
    .max(max, `must be ${max} ${unit} or less`);

export const loudness = z
  .union(
    [
      z.literal("measure"),
      within(TARGET, "LUFS"),
      strictObject({
        target: within(TARGET, "LUFS").describe("Integrated loudness in LUFS"),
        true_peak: within(TRUE_PEAK, "dBTP").default(TRUE_PEAK.default).describe("Maximum true peak in dBTP"),
        tolerance: within(TOLERANCE, "LU")
          .default(TOLERANCE.default)
          .describe("Difference from the target, in LU, from which on the gain is corrected"),
      }),
    ],
    `must be \`measure\`, a number of LUFS from ${TARGET.min} to ${TARGET.max}, or an object with \`target\``,
  )
  .optional()
  .describe(
    "Loudness of the encoded audio in LUFS (ITU-R BS.1770-4): one gain for the whole output, and a limiter where the " +
      "true peak would exceed -1 dBTP. `measure` changes nothing and adds the loudness to the metadata",
  )
  .register(PARAMETERS, { label: "Loudness", example: "-16", help: "LUFS, or measure to only measure it" });

/** Returns the requested loudness as outputs store it; an empty object without the parameter. */
export function parseLoudness(value: z.infer<typeof loudness>): { readonly loudness?: LoudnessSpec } {
  if (value === undefined) return {};
  const { target, true_peak, tolerance } = typeof value === "object" ? value : { ...DEFAULTS, target: value };
  return {
    loudness: { targetLufs: target === "measure" ? null : target, truePeakDb: true_peak, toleranceLu: tolerance },
  };
}

const DEFAULTS = { true_peak: TRUE_PEAK.default, tolerance: TOLERANCE.default };
