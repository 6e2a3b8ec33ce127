// Reads the frame index of a video track, without decoding it.
import * as z from "zod";
import { err } from "#shared/result.ts";
import type { Tool } from "../../ffmpeg/discover/locate.ts";
import { checkPackets, type FrameIndexReading, type Sample, type TrackHead } from "./packet-checks.ts";
import { PACKET_ENTRIES, PacketList } from "./packet-list.ts";
import { type ProbeInput, runPacketListing, runPacketListingByLine } from "./run-packet-listing.ts";

/** Packets that are decoded to check that packets are frames: encoders that hide frames do so in the first seconds. */
const SAMPLE_PACKETS = 50;

/** 50 frames of about 100 characters each, and the output before them. */
const MAX_HEAD_CHARS = 1_000_000;

/** Demuxers with ffmpeg's flag AVFMT_TS_DISCONT, by ffprobe's names. */
const DISCONTINUOUS_FORMATS = new Set(["mpegts", "mpeg", "ogg"]);

const Ticks = z.number().optional();
const Head = z.object({
  frames: z.array(z.object({ best_effort_timestamp: Ticks })).default([]),
  streams: z
    .array(
      z.object({
        codec_type: z.string().optional(),
        codec_name: z.string().optional(),
        field_order: z.string().optional(),
        time_base: z.string().regex(/^[1-9]\d*\/[1-9]\d*$/),
        start_pts: Ticks,
        duration_ts: Ticks,
        disposition: z.object({ attached_pic: z.int() }).optional(),
      }),
    )
    .max(1),
  format: z.object({ format_name: z.string(), start_time: z.string().optional() }),
});
type Head = z.infer<typeof Head>;

const HEAD_ENTRIES = [
  "frame=best_effort_timestamp",
  "stream=codec_type,codec_name,field_order,time_base,start_pts,duration_ts",
  "stream_disposition=attached_pic",
  "format=format_name,start_time",
].join(":");

/**
 * Returns the frames of a video track, or the reason why the decoded frames or their times are uncertain. Reads the
 * whole file, and takes about as long as that. Throws AppError `node_failed` when ffprobe does not start, stalls for 60
 * s or takes two hours. Rejects with the reason of `signal`, or with the reason of a source that fails.
 */
export async function readFrameIndex(
  ffprobe: Tool,
  source: ProbeInput,
  streamIndex: number,
  signal: AbortSignal,
): Promise<FrameIndexReading> {
  const stop = "failed" in source ? AbortSignal.any([signal, source.failed]) : signal;
  const ended = new AbortController();
  const reading: Reading = { ffprobe, source, streamIndex, signal: AbortSignal.any([stop, ended.signal]) };
  // The tracks of an outline have no discontinuities, so its packets need not wait for the head.
  const early = "isOutline" in source && source.isOutline ? listPackets(reading, false) : null;
  early?.catch(() => undefined);
  try {
    const track = await readHead(reading);
    if ("error" in track) return track;
    const packets = await (early ?? listPackets(reading, track.head.isDiscontinuous));
    return packets ? checkPackets(track.head, track.sample, packets) : DAMAGED;
  } finally {
    ended.abort();
  }
}

type Reading = {
  readonly ffprobe: Tool;
  readonly source: ProbeInput;
  readonly streamIndex: number;
  readonly signal: AbortSignal;
};

const selected = (streamIndex: number): string[] => ["-select_streams", String(streamIndex)];

async function readHead({ ffprobe, source, streamIndex, signal }: Reading): Promise<VideoTrack | typeof NO_VIDEO> {
  let text = "";
  const few = ["-read_intervals", `%+#${SAMPLE_PACKETS}`, "-show_entries", HEAD_ENTRIES, "-of", "json"];
  const argv = [...selected(streamIndex), ...few];
  const isReadable = await runPacketListing({ ffprobe, source, argv }, signal, (piece) => {
    text += piece;
    return text.length <= MAX_HEAD_CHARS;
  });
  if (!isReadable) return DAMAGED;
  const head = Head.safeParse(JSON.parse(text));
  if (!head.success) return NO_VIDEO;
  return trackOf(head.data) ?? NO_VIDEO;
}

/** Null when the packets cannot be read. */
async function listPackets(
  { ffprobe, source, streamIndex, signal }: Reading,
  isDiscontinuous: boolean,
): Promise<PacketList | null> {
  const packets = new PacketList(streamIndex);
  // A discontinuity in any track shifts all tracks.
  const tracks = isDiscontinuous ? [] : selected(streamIndex);
  const all = [...tracks, "-show_entries", PACKET_ENTRIES, "-of", "compact"];
  // Stops at too many packets.
  const onLine = (line: string): boolean => {
    packets.addLine(line);
    return packets.fits;
  };
  const isClean = await runPacketListingByLine({ ffprobe, source, argv: all }, signal, onLine);
  return isClean || !packets.fits ? packets : null;
}

const NO_VIDEO = err("it has no video track");
const DAMAGED = err("it is damaged or truncated");

type VideoTrack = { readonly head: TrackHead; readonly sample: Sample };

function trackOf({ frames, streams: [stream], format }: Head): VideoTrack | null {
  if (stream?.codec_type !== "video" || stream.disposition?.attached_pic === 1) return null;
  const [num = 1, den = 1] = stream.time_base.split("/").map(Number);
  const { field_order, start_pts, duration_ts } = stream;
  // Other formats have no duration per track, or declare the duration of the longest track.
  const declaresEnd = format.format_name.startsWith("mov,") && start_pts !== undefined && duration_ts !== undefined;
  const head = {
    timeBase: { num, den },
    interlaced: field_order !== undefined && field_order !== "progressive" && field_order !== "unknown",
    declaredEndTicks: declaresEnd ? start_pts + duration_ts : null,
    startUs: Math.round(Number(format.start_time ?? 0) * 1e6) || 0,
    isDiscontinuous: DISCONTINUOUS_FORMATS.has(format.format_name),
  };
  const times = frames.map(({ best_effort_timestamp }) => best_effort_timestamp ?? Number.NaN);
  return { head, sample: { packets: SAMPLE_PACKETS, frames: times } };
}
