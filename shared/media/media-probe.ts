// What ffprobe says of a file, and the few facts that planning needs from it.
import * as z from "zod";
import { MAX_INT32, MAX_STREAMS } from "../report-limits.ts";
import { chosenAudio, chosenVideo } from "./choose-streams.ts";
import { ProbeText, ShownValue, Tags } from "./probe-text.ts";
import { timelineStartUs } from "./timeline-start.ts";

/** What ffprobe prints of an `int` that counts something. */
const Count = z.int().min(0).max(MAX_INT32);
/** ffprobe prints the angle of a broken display matrix as the least number of 64 bits. */
const Rotation = z
  .number()
  .min(-(2 ** 63))
  .max(2 ** 63);
const MAX_SIDE_DATA = 1_000;

/** Clocks of containers are of 64 bits, but nothing that is shown lasts a century. */
export const MAX_PACKET_SECONDS = 3_155_760_000;
const Seconds = z.number().min(-MAX_PACKET_SECONDS).max(MAX_PACKET_SECONDS);

/**
 * When a stream is shown by what its packets say, in seconds on the file's own clock as `start_time` is. A header may be
 * missing, be wrong, or count what an edit list hides.
 */
export const PacketTimes = z.object({
  /** When the first packet begins that is shown at all; it may be before the beginning of the timeline. */
  first: Seconds,
  /** The same at or after the beginning of the timeline. */
  from: Seconds,
  /** When the last one begins, and when it ends. */
  last: Seconds,
  end: Seconds,
  /** Whether the file is without packets that its header promises; it was cut short then, or is damaged. */
  cut_short: z.literal(true).exactOptional(),
});
export type PacketTimes = z.infer<typeof PacketTimes>;

/**
 * One stream as ffprobe prints it: what plans read is typed and has the form of ffprobe's own words, or is left out; all else
 * is kept as it came.
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
    field_order: ProbeText.fieldOrder,
    color_range: ProbeText.colourRange,
    color_space: ProbeText.colourMatrix,
    color_transfer: ProbeText.colourTransfer,
    color_primaries: ProbeText.colourPrimaries,
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
    /** Of the streams that are used, where their packets have times: what the node read of them. */
    packets: PacketTimes.exactOptional(),
  })
  .catchall(ShownValue);
export type ProbedStream = z.infer<typeof ProbedStream>;

export const MediaProbe = z.object({
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
});
export type MediaProbe = z.infer<typeof MediaProbe>;

export type VideoFacts = {
  /** Of the coded frame, before rotation. */
  codedWidth: number;
  codedHeight: number;
  /** Degrees clockwise that a player turns the picture: 0, 90, 180 or 270 (contract: `input.rotation`). */
  rotation: number;
  /** Of the upright picture with square pixels: what a viewer sees. */
  displayWidth: number;
  displayHeight: number;
  /** Mean frames per second; null when ffprobe does not know. */
  fps: number | null;
  /** False when the stream's own rates disagree: its frames keep their own times. */
  constantFrameRate: boolean;
};

export type SourceFacts = {
  durationMs: number | null;
  video: VideoFacts | null;
  audio: { sampleRateHz: number | null; channels: number | null } | null;
};

/** The facts of a source: of the video stream and the audio stream that are taken of it. */
export function sourceFacts(probe: MediaProbe): SourceFacts {
  const video = chosenVideo(probe.streams);
  const audio = chosenAudio(probe.streams);
  const seconds =
    packetSeconds(probe) ?? positive(probe.format.duration) ?? positive(video?.duration) ?? positive(audio?.duration);
  return {
    durationMs: seconds === null ? null : Math.round(seconds * 1000),
    video: video ? videoFacts(video) : null,
    audio: audio ? { sampleRateHz: positive(audio.sample_rate), channels: audio.channels ?? null } : null,
  };
}

/** How long the streams are together whose packets were read; null where they were not, or are not all there. */
function packetSeconds(probe: MediaProbe): number | null {
  const read = probe.streams.filter(({ packets }) => packets !== undefined);
  const times = read.flatMap(({ packets }) => packets ?? []);
  if (times.length === 0 || times.some(({ cut_short }) => cut_short)) return null;
  const seconds = Math.max(...times.map(({ end }) => end)) - timelineStartUs(probe, read) / 1e6;
  return seconds > 0 ? seconds : null;
}

function videoFacts(stream: ProbedStream): VideoFacts {
  const codedWidth = stream.width ?? 0;
  const codedHeight = stream.height ?? 0;
  const rotation = rotationOf(stream);
  const wide = Math.max(1, Math.round(codedWidth * (fraction(stream.sample_aspect_ratio) ?? 1)));
  const sideways = rotation % 180 === 90;
  const mean = fraction(stream.avg_frame_rate);
  const base = fraction(stream.r_frame_rate);
  return {
    codedWidth,
    codedHeight,
    rotation,
    displayWidth: sideways ? codedHeight : wide,
    displayHeight: sideways ? wide : codedHeight,
    fps: mean ?? base,
    constantFrameRate: mean !== null && base !== null && Math.abs(base - mean) <= mean * 0.001,
  };
}

/**
 * Degrees clockwise to turn the picture. Newer ffprobe builds print the display matrix, whose angle runs the other
 * way (side data 90 is the old `rotate` tag 270).
 */
export function rotationOf(stream: ProbedStream): number {
  const matrix = stream.side_data_list?.find((data) => data.rotation !== undefined)?.rotation;
  const degrees = matrix !== undefined ? -matrix : Number(stream.tags?.rotate ?? 0);
  if (!Number.isFinite(degrees)) return 0;
  const quarter = Math.round(degrees / 90) * 90;
  return ((quarter % 360) + 360) % 360;
}

/**
 * The probe within `maxChars` of JSON: without tags and side data if need be, and then with the first streams only. A
 * file may carry megabytes of text in its tags, or thousands of streams.
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

/** The value of `30000/1001` or `4:3`; null when it is missing or not positive. */
export function fraction(text: string | undefined): number | null {
  if (text === undefined) return null;
  const [numerator, denominator = "1"] = text.split(/[/:]/);
  const value = Number(numerator) / Number(denominator);
  return Number.isFinite(value) && value > 0 ? value : null;
}

function positive(text: string | undefined): number | null {
  const value = Number(text);
  return text !== undefined && Number.isFinite(value) && value > 0 ? value : null;
}
