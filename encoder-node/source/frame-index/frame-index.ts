// Reads when each frame of a film is shown, without decoding it.
import * as z from "zod";
import type { Tool } from "../../ffmpeg/build/locate.ts";
import { judgePackets, type LedgerReading, type Sample, type TrackHead } from "./packet-checks.ts";
import { PACKET_ENTRIES, packetReader } from "./packet-list.ts";
import { type LedgerSource, listen } from "./run-packet-listing.ts";

/** Decoded to see whether packets are frames: encoders that hide pictures do so from the first seconds on. */
const SAMPLE_PACKETS = 50;

/** Some 50 frames of 100 characters, and what precedes them. */
const MAX_BEGINNING_CHARS = 1_000_000;

/** Demuxers, by ffprobe's names, with ffmpeg's flag AVFMT_TS_DISCONT. */
const MENDED_FORMATS = new Set(["mpegts", "mpeg", "ogg"]);

const Ticks = z.number().optional();
const Beginning = z.object({
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
type Beginning = z.infer<typeof Beginning>;

const BEGINNING_ENTRIES = [
  "frame=best_effort_timestamp",
  "stream=codec_type,codec_name,field_order,time_base,start_pts,duration_ts",
  "stream_disposition=attached_pic",
  "format=format_name,start_time",
].join(":");

/**
 * The frames of a picture track; what makes it uncertain which frames a decoder gives, and when they are shown, is answered with
 * the reason. The file is read to its end: about as long as it takes to read it. Throws AppError `node_failed` when
 * ffprobe does not run, stalls for 60 s or takes two hours; rejects with the reason of the signal, and with that of a source that fails.
 */
export async function readFrameLedger(
  ffprobe: Tool,
  source: LedgerSource,
  streamIndex: number,
  signal: AbortSignal,
): Promise<LedgerReading> {
  const stop = "failed" in source ? AbortSignal.any([signal, source.failed]) : signal;
  const select = ["-select_streams", String(streamIndex)];

  let text = "";
  const few = ["-read_intervals", `%+#${SAMPLE_PACKETS}`, "-show_entries", BEGINNING_ENTRIES, "-of", "json"];
  const argv = [...select, ...few];
  const began = await listen({ ffprobe, source, argv }, stop, (piece) => {
    text += piece;
    return text.length <= MAX_BEGINNING_CHARS;
  });
  if (!began) return DAMAGED;
  const beginning = Beginning.safeParse(JSON.parse(text));
  if (!beginning.success) return NO_PICTURE;
  const track = trackOf(beginning.data);
  if (track === null) return NO_PICTURE;

  const packets = packetReader(streamIndex);
  // A jump in the times of any track moves all of them.
  const which = track.head.jumpsAreMended ? [] : select;
  const all = [...which, "-show_entries", PACKET_ENTRIES, "-of", "compact"];
  const take = (piece: string): boolean => {
    packets.take(piece);
    return packets.fits;
  };
  // The rest of a file with too many packets would be read for nothing.
  if (!(await listen({ ffprobe, source, argv: all }, stop, take)) && packets.fits) return DAMAGED;
  return judgePackets(track.head, track.sample, packets);
}

const NO_PICTURE: LedgerReading = { ok: false, why: "it has no moving picture" };
const DAMAGED: LedgerReading = { ok: false, why: "it is damaged or cut off" };

function trackOf({ frames, streams: [stream], format }: Beginning): { head: TrackHead; sample: Sample } | null {
  if (stream?.codec_type !== "video" || stream.disposition?.attached_pic === 1) return null;
  const [num = 1, den = 1] = stream.time_base.split("/").map(Number);
  const { field_order, start_pts, duration_ts } = stream;
  // Others write no length of a track, or that of the longest.
  const says = format.format_name.startsWith("mov,") && start_pts !== undefined && duration_ts !== undefined;
  const head = {
    timeBase: { num, den },
    interlaced: field_order !== undefined && field_order !== "progressive" && field_order !== "unknown",
    saysEndTicks: says ? start_pts + duration_ts : null,
    startUs: Math.round(Number(format.start_time ?? 0) * 1e6) || 0,
    jumpsAreMended: MENDED_FORMATS.has(format.format_name),
  };
  const times = frames.map(({ best_effort_timestamp }) => best_effort_timestamp ?? Number.NaN);
  return { head, sample: { packets: SAMPLE_PACKETS, frames: times } };
}
