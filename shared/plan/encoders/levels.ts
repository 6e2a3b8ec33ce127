// The limits of the levels of H.264 and HEVC. A stream must not claim to be easier to decode than it is.
import type { Failure } from "../../errors.ts";
import type { VideoCodec } from "../../format/codecs.ts";
import type { Size } from "../source/frame-size.ts";

/** Per frame and per second: macroblocks of 16×16 (H.264), or luma samples (HEVC). */
type Limit = readonly [perFrame: number, perSecond: number];
type Limits = Readonly<Record<number, Limit>>;

/** ITU-T H.264 table A-1: MaxFS and MaxMBPS. */
const H264: Limits = {
  10: [99, 1_485],
  11: [396, 3_000],
  12: [396, 6_000],
  13: [396, 11_880],
  20: [396, 11_880],
  21: [792, 19_800],
  22: [1_620, 20_250],
  30: [1_620, 40_500],
  31: [3_600, 108_000],
  32: [5_120, 216_000],
  40: [8_192, 245_760],
  41: [8_192, 245_760],
  42: [8_704, 522_240],
  50: [22_080, 589_824],
  51: [36_864, 983_040],
};

/** ITU-T H.265 tables A.8 and A.9: MaxLumaPs and MaxLumaSr. */
const HEVC: Limits = {
  10: [36_864, 552_960],
  20: [122_880, 3_686_400],
  21: [245_760, 7_372_800],
  30: [552_960, 16_588_800],
  31: [983_040, 33_177_600],
  40: [2_228_224, 66_846_720],
  41: [2_228_224, 133_693_440],
  50: [8_912_896, 267_386_880],
  51: [8_912_896, 534_773_760],
};

/** Rates may exceed a limit by this factor, because mean rates of sources are rounded. */
const RATE_SLACK = 1.01;

/** 4.1 for 41. */
export const levelText = (level: number): string => `${Math.floor(level / 10)}.${level % 10}`;

/**
 * Returns the reason why frames of this size and rate cannot have this level. Null if they can, or if no level is
 * requested.
 */
export function levelFailure(codec: VideoCodec, level: number | null, frame: Size, fps: number): Failure | null {
  const limit = level === null ? undefined : { h264: H264, hevc: HEVC }[codec as "h264" | "hevc"]?.[level];
  if (level === null || !limit) return null;
  const unit = codec === "h264" ? 16 : 1;
  const units = Math.ceil(frame.width / unit) * Math.ceil(frame.height / unit);
  if (units <= limit[0] && units * fps <= limit[1] * RATE_SLACK) return null;
  const what = `${frame.width}x${frame.height} pixels at ${Number(fps.toFixed(2))} frames per second`;
  return { code: "output_size_not_possible", message: `Level ${levelText(level)} of ${codec} does not allow ${what}.` };
}
