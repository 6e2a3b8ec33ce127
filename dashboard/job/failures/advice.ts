// Advice about the failure of an input or an output. Pure.
import { type Blame, type ErrorCode, errorTraits, isErrorCode } from "../../../shared/errors.ts";

export type Advice = {
  /** The advice, in a sentence or two. */
  readonly text: string;
  /** True if starting the same job again may help. */
  readonly mayRetry: boolean;
};

/** By code. Other codes have the advice of the party to blame. */
const ADVICE: Readonly<Partial<Record<ErrorCode, string>>> = {
  input_address_not_allowed:
    "Nodes fetch only from public addresses. Put the source where the internet reaches it, or upload it.",
  input_not_media: "Open the URL of the source yourself: it may lead to a web page, or the file may be incomplete.",
  input_codec_not_supported: "Convert the source to a supported codec first; docs/decoders.md lists them.",
  input_encrypted: "Use a source without encryption or DRM.",
  input_too_large: "Ask the operator for nodes with more disk, or use a smaller source.",
  input_host_not_found: "Check the host of the source's URL for a typing error.",
  input_unreachable: "Check that the server of the source is up and lets the nodes connect.",
  input_timeout: "The server of the source is slow. Try again, or put the source elsewhere.",
  input_has_no_video: "Remove the outputs with video, or use a source that has video.",
  input_track_not_found: "Name another track, or set `optional` for tracks that only some sources have.",
  input_has_no_audio: "Disable the audio of this output, or use a source that has audio.",
  offset_beyond_end: "Use an offset that is less than the length of the source.",
  watermark_failed: "Check that the watermark's URL leads to a PNG, JPEG or WebP image.",
  subtitle_failed: "Check that the subtitles are text, and that their URL leads to a file in a supported format.",
  output_interval_not_possible: "Use a longer interval, or a number of images.",
  output_size_not_possible: "Choose another size; most encoders need even numbers, and have a largest size.",
  copy_not_possible: "Name a codec instead of `copy`, or choose a container that can hold the codec of the source.",
  encoding_failed: "Read the end of ffmpeg's output, under Commands.",
  encoder_not_available: "Connect a node whose ffmpeg has this encoder, or choose another codec.",
  storage_address_not_allowed: "The storage must have a public address.",
  storage_unreachable: "Start the job again when the storage is up.",
  output_path_not_unique: "The conditions of two outputs with the same path were true; give them different paths.",
  node_lost: "The nodes that worked on it disappeared again and again: their machines may lack memory.",
  node_failed: "The log of the node, which the timeline names, has the reason.",
  job_not_started: "Start a node that can do this job, or allow a longer time with `start_within_s`.",
  job_timeout: "Allow a longer time with `max_run_s`.",
};

/** Fallback advice by the party to blame. */
const BY_BLAME: Readonly<Record<Blame, string>> = {
  client: "Edit the request and send it again.",
  source: "Check the source.",
  storage: "Correct the storage with Edit and send again.",
  node: "Start the job again; if it fails again, look at the commands of the node.",
  platform: "Start the job again later.",
};

/** Advice about an uploaded source, which has no URL that its owner knows. */
const UPLOAD_ADVICE: Readonly<Record<string, string>> = {
  input_not_media: "Play the file on your machine: it may be incomplete, or no video or audio.",
};

/** True if the source of a job was uploaded to the service. */
export const isUploaded = ({ source = "" }: { readonly source?: string | undefined }): boolean =>
  source.startsWith("upload:");

export function adviceFor(code: string | undefined, ofUpload = false): Advice {
  if (code === undefined || !isErrorCode(code)) return { text: BY_BLAME.platform, mayRetry: true };
  const { blame, retry } = errorTraits(code);
  const text = (ofUpload ? UPLOAD_ADVICE[code] : undefined) ?? ADVICE[code] ?? httpAdvice(code) ?? BY_BLAME[blame];
  return { text, mayRetry: retry === "now" };
}

/** Advice for `input_http_404` and similar codes, which have the response status of the source's server. */
function httpAdvice(code: string): string | undefined {
  const status = Number(/^input_http_(\d+)$/.exec(code)?.[1]);
  if (Number.isNaN(status)) return undefined;
  if (status === 401 || status === 403)
    return "Send the job again with a URL that the server allows: a signed URL may have expired.";
  if (status === 404 || status === 410) return "Correct the URL of the source with Edit and send again.";
  if (status === 429) return "The server of the source allows fewer requests. Try again later.";
  return status >= 500
    ? "The server of the source failed. Try again later."
    : "The server of the source does not send the file.";
}
