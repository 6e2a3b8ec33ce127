// Text in a node's reports, restricted because other nodes, clients or storages receive it.
import * as z from "zod";
import { type ErrorCode, isErrorCode } from "../errors.ts";
import { MAX_NAME_CHARS } from "../report-limits.ts";

/** ffmpeg's name of an encoder, a filter or a muxer. */
export const FfmpegName = z
  .string()
  .max(MAX_NAME_CHARS)
  .regex(/^[\w.+-]+$/, "not the name of an encoder, filter or muxer");

/** Encoders of an output: several if its renditions differ in codec. */
export const EncoderNames = z
  .string()
  .max(100)
  .regex(/^[\w.+-]+(?:, [\w.+-]+)*$/, "not a list of encoder names");

/** The path of a DRM render node. */
export const DevicePath = z.string().regex(/^\/[\w./-]{1,200}$/, "not a device path");

export { Line } from "../line.ts";

export const ErrorCodeText = z.custom<ErrorCode>((value) => typeof value === "string" && isErrorCode(value), {
  error: "not an error code",
});
/** Replaces other control characters than tab and line feed: a failure must be reported, whatever a tool wrote. */
const FailureMessage = z
  .string()
  .min(1)
  .max(2000)
  .transform((text) => text.replaceAll(/[^\P{Cc}\t\n]|[\p{Cs}\u2028\u2029]/gu, "\ufffd"));
export const FailureReport = z.object({ code: ErrorCodeText, message: FailureMessage });
