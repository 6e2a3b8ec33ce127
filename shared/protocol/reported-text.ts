// The forms of texts that a node reports and that other nodes, clients or storages get.
import * as z from "zod";
import { MAX_NAME_CHARS } from "../report-limits.ts";

/** Of a part of ffmpeg: an encoder, a filter, a muxer. */
export const PartName = z
  .string()
  .max(MAX_NAME_CHARS)
  .regex(/^[\w.+-]+$/, "not the name of a part of ffmpeg");

/** The encoders of an output, which has several where its renditions differ in codec. */
export const EncoderNames = z
  .string()
  .max(100)
  .regex(/^[\w.+-]+(?:, [\w.+-]+)*$/, "not the names of encoders");

/** Of a DRM render node. */
export const DevicePath = z.string().regex(/^\/[\w./-]{1,200}$/, "not the path of a device");

/** Text in one line, without control characters. */
export const Line = (maxChars: number) =>
  z
    .string()
    .max(maxChars)
    .regex(/^[^\p{Cc}\p{Cs}\u2028\u2029]*$/u, "has a control character");
