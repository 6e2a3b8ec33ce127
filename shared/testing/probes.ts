// Streams and probes as ffprobe prints them, and plans of them.
import type { MediaProbe, ProbedStream } from "../media/media-probe.ts";
import { ALL_SOFTWARE } from "../plan/encoders/software-encoders.ts";
import { planEncode } from "../plan/tasks/plan-encode.ts";
import { type OutputOptions, specOf } from "./output-specs.ts";

export const BT709 = { color_space: "bt709", color_primaries: "bt709", color_transfer: "bt709" };
export const PQ = { color_space: "bt2020nc", color_primaries: "bt2020", color_transfer: "smpte2084" };

type Changes = Readonly<Partial<ProbedStream>>;

/** The first stream: H.264 video at a rate such as `25/1`. */
export const videoStream = (width: number, height: number, rate = "25/1", changes: Changes = {}): ProbedStream => {
  const rates = { r_frame_rate: rate, avg_frame_rate: rate };
  return { index: 0, codec_type: "video", codec_name: "h264", width, height, ...rates, ...changes };
};

/** The second stream: AAC in stereo. */
export const audioStream = (changes: Changes = {}): ProbedStream => {
  const format = { channels: 2, channel_layout: "stereo", sample_rate: "48000" };
  return { index: 1, codec_type: "audio", codec_name: "aac", ...format, ...changes };
};

/** A source with these streams, a minute long. */
export const probed = (streams: readonly Omit<ProbedStream, "index">[], format = {}): MediaProbe => ({
  streams: streams.map((stream, index) => ({ ...stream, index })),
  format: { duration: "60.000000", ...format },
});

/** The plan of outputs, in software. */
export const planOf = (
  probe: MediaProbe,
  outputs: readonly OutputOptions[],
  changes: Partial<Parameters<typeof planEncode>[0]> = {},
) => planEncode({ source: "/in", probe, outputs: outputs.map(specOf), capabilities: ALL_SOFTWARE, ...changes });
