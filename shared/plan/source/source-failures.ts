// The failures that several planners share.
import type { Failure } from "../../errors.ts";

const MESSAGES = {
  input_has_no_video: "The input has no video stream, which this output needs.",
  input_has_no_audio: "The input has no audio stream, which this output needs.",
  offset_beyond_end: "The output's `offset` is beyond the end of the input.",
};

export const sourceFailure = (code: keyof typeof MESSAGES): Failure => ({ code, message: MESSAGES[code] });
