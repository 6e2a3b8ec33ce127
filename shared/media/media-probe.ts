// ffprobe's description of a file.
import * as z from "zod";
import { NAMED } from "../named-schemas.ts";
import { MAX_INT32, MAX_STREAMS } from "../report-limits.ts";
import { Chapters } from "./chapters.ts";
import { ProbeText, ShownValue, Tags } from "./probe-text.ts";

/** A count. ffprobe prints an `int`. */
const Count = z.int().min(0).max(MAX_INT32);
/** ffprobe prints the smallest 64-bit number as the angle of a broken display matrix. */
const Rotation = z
  .number()
  .min(-(2 ** 63))
  .max(2 ** 63);
const MAX_SIDE_DATA = 1_000;

/** A century. Clocks of containers have 64 bits, but no media is longer. */
export const MAX_PACKET_SECONDS = 3_155_760_000;
const Seconds = z.number().min(-MAX_PACKET_SECONDS).max(MAX_PACKET_SECONDS);

/**
 * Time range of a stream according to its packets, in seconds on the file's clock, like `start_time`. Headers may be
 * missing, may be wrong, or may count packets that an edit list hides.
 */
export const PacketTimes = z.object({
  first: Seconds.describe("Start of the first visible packet, which may be before the start of the timeline"),
  from: Seconds.describe("Start of the first packet at or after the start of the timeline"),
  last: Seconds.describe("Start of the last packet"),
  end: Seconds.describe("End of the last packet"),
  count: Count.exactOptional().describe("Number of visible packets; absent if only the start and the end were read"),
  restarts: z
    .literal(true)
    .exactOptional()
    .describe("The clock of the file restarts or jumps. All times are on the clock of its first part"),
  falls_back_at: Seconds.exactOptional().describe(
    "Timestamps fall back here, as after a broken transmission. ffmpeg drops packets with earlier timestamps",
  ),
  ends_early: z
    .literal(true)
    .exactOptional()
    .describe("The file lacks packets that its header declares, because it is truncated or damaged"),
});
export type PacketTimes = z.infer<typeof PacketTimes>;

/**
 * A stream in ffprobe's output. Fields that plans read are typed, and omitted if not valid. All others are kept
 * unchanged.
 */
export const ProbedStream = z
  .object({
    index: Count,
    codec_type: ProbeText.name,
    codec_name: ProbeText.name,
    codec_tag_string: ProbeText.fourCharacters,
    width: Count.optional(),
    height: Count.optional(),
    sample_aspect_ratio: ProbeText.ratio,
    pix_fmt: ProbeText.name,
    sample_fmt: ProbeText.name,
    has_b_frames: Count.optional().catch(undefined),
    field_order: ProbeText.fieldOrder,
    color_range: ProbeText.colorRange,
    color_space: ProbeText.colorMatrix,
    color_transfer: ProbeText.colorTransfer,
    color_primaries: ProbeText.colorPrimaries,
    chroma_location: ProbeText.chromaLocation,
    r_frame_rate: ProbeText.ratio,
    avg_frame_rate: ProbeText.ratio,
    start_time: ProbeText.number,
    duration: ProbeText.number,
    bit_rate: ProbeText.number,
    sample_rate: ProbeText.number,
    channels: Count.optional(),
    channel_layout: ProbeText.layout,
    nb_frames: ProbeText.number,
    nb_read_packets: ProbeText.number,
    disposition: z.record(z.string(), Count).optional(),
    tags: Tags.optional(),
    side_data_list: z
      .array(z.object({ rotation: Rotation.optional() }).catchall(ShownValue))
      .max(MAX_SIDE_DATA)
      .optional(),
    programs: z
      .array(Count)
      .max(MAX_STREAMS)
      .exactOptional()
      .describe("The programs that contain the stream, if the input has several (MPEG-TS with several channels)"),
    empty: z
      .literal(true)
      .exactOptional()
      .describe("The node found no packet of this stream in the input, or no audio in its packets; not from ffprobe"),
    packets: PacketTimes.exactOptional().describe(
      "Read by the node from the packets of a used stream of the input, in seconds on the file's clock; not from ffprobe",
    ),
  })
  .catchall(ShownValue)
  .register(NAMED, { id: "StreamMetadata" });
export type ProbedStream = z.infer<typeof ProbedStream>;

export const MediaProbe = z
  .object({
    streams: z.array(ProbedStream).max(MAX_STREAMS),
    format: z
      .object({
        filename: z.string().optional(),
        format_name: ProbeText.demuxers,
        start_time: ProbeText.number,
        duration: ProbeText.number,
        size: ProbeText.number,
        bit_rate: ProbeText.number,
        tags: Tags.optional(),
      })
      .catchall(ShownValue),
    chapters: Chapters.exactOptional(),
  })
  .register(NAMED, { id: "MediaMetadata" });
export type MediaProbe = z.infer<typeof MediaProbe>;

/**
 * Returns the rotation of the video in degrees clockwise. Newer ffprobe builds print the display matrix, whose angle is
 * counterclockwise (side data 90 is the old `rotate` tag 270).
 */
export function rotationOf(stream: ProbedStream): number {
  const matrix = stream.side_data_list?.find((data) => data.rotation !== undefined)?.rotation;
  const degrees = matrix !== undefined ? -matrix : Number(stream.tags?.rotate ?? 0);
  if (!Number.isFinite(degrees)) return 0;
  const quarter = Math.round(degrees / 90) * 90;
  return ((quarter % 360) + 360) % 360;
}

/**
 * Shortens the probe to `maxChars` of JSON: first drops tags, chapters and side data, then the last streams. A file may
 * have megabytes of text in its tags, or thousands of streams.
 */
export function boundedProbe(probe: MediaProbe, maxChars: number): MediaProbe {
  if (JSON.stringify(probe).length <= maxChars) return probe;
  const { tags: _formatTags, ...format } = probe.format;
  let streams = probe.streams.map(({ tags: _tags, side_data_list, ...stream }) => ({
    ...stream,
    ...(side_data_list ? { side_data_list: side_data_list.filter(({ rotation }) => rotation !== undefined) } : {}),
  }));
  while (streams.length > 1 && JSON.stringify({ streams, format }).length > maxChars) {
    streams = streams.slice(0, Math.ceil(streams.length / 2));
  }
  return { streams, format };
}

/** Returns the value of `30000/1001` or `4:3`; null if it is missing or not positive. */
export function fraction(text: string | undefined): number | null {
  if (text === undefined) return null;
  const [numerator, denominator = "1"] = text.split(/[/:]/);
  const value = Number(numerator) / Number(denominator);
  return Number.isFinite(value) && value > 0 ? value : null;
}
