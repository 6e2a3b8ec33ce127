// Probes a source, including data that only its frames and packets contain.
import * as z from "zod";
import { isCaptions } from "#shared/media/captions.ts";
import { chosenAudio, chosenVideo } from "#shared/media/choose-streams.ts";
import { MediaProbe, type ProbedStream } from "#shared/media/media-probe.ts";
import { HLG } from "#shared/plan/source/source-color.ts";
import type { Tool } from "../../ffmpeg/discover/locate.ts";
import type { LocalFile } from "../frame-index/run-packet-listing.ts";
import { withPacketTimes } from "./packet-times.ts";
import { probeDecodable } from "./probe-decodable.ts";
import { runFfprobe } from "./run-ffprobe.ts";

/**
 * Codecs whose frames may contain data that the header lacks, and the frames that are read: the first frame, or the
 * keyframes of ten seconds. Phones write a rotation into the EXIF data of a JPEG, some cameras into messages in H.264
 * and HEVC; ffmpeg applies it. HEVC and AV1 may have HDR10's metadata, and broadcasts have captions.
 */
const FRAMES: Readonly<Record<string, "first" | "keyframes">> = {
  mjpeg: "first",
  av1: "first",
  h264: "keyframes",
  hevc: "keyframes",
  mpeg2video: "keyframes",
};

const Frames = z.object({
  frames: z.array(
    z.looseObject({
      color_transfer: z.string().optional(),
      side_data_list: z
        .array(z.looseObject({ side_data_type: z.string().catch(""), rotation: z.number().optional() }))
        .optional(),
    }),
  ),
});
type SideData = NonNullable<ProbedStream["side_data_list"]>;

/**
 * Probes a source like `probeDecodable`, and reads the start and end of its packets (`withAudioTimes`). Adds data that
 * only frames contain to the used video: a rotation, HDR10's metadata, captions, and HLG that only a message announces.
 * Decoding these frames of 1080p takes 20 to 80 ms, at the same time as the packets are read. It takes 0.9 s if all 500
 * frames of ten seconds are keyframes.
 */
export async function probeSource(
  ffprobe: Tool,
  file: string | LocalFile,
  signal: AbortSignal = new AbortController().signal,
): Promise<MediaProbe> {
  const local = typeof file === "string" ? { path: file } : file;
  const probe = await probeDecodable(ffprobe, local.path, signal);
  const video = chosenVideo(probe.streams);
  const [timed, ofFrames] = await Promise.all([
    withAudioTimes(ffprobe, local, probe, signal),
    video ? frameData({ ffprobe, signal }, local, video) : {},
  ]);
  const streams = timed.streams.map((stream) => (stream.index === video?.index ? { ...stream, ...ofFrames } : stream));
  return { ...timed, streams };
}

/** Tests for the kinds of side data that plans read. */
const KINDS = [
  (data: SideData[number]) => data.rotation !== undefined,
  (data: SideData[number]) => data.max_luminance !== undefined || data.red_x !== undefined,
  (data: SideData[number]) => data.max_content !== undefined,
  isCaptions,
];

/**
 * The transfer function, if only the first frame has HLG, and the side data with data that the stream lacks: of the
 * first frame, which ffmpeg uses, and captions of any frame.
 */
async function frameData(
  { ffprobe, signal }: { readonly ffprobe: Tool; readonly signal: AbortSignal },
  { path, isOutline = false }: LocalFile,
  { index, codec_name = "", side_data_list = [] }: ProbedStream,
): Promise<Pick<ProbedStream, "color_transfer" | "side_data_list">> {
  const which = FRAMES[codec_name];
  if (!which) return {};
  const interval = which === "first" || isOutline ? "%+#1" : "%+10";
  const selection = ["-select_streams", String(index), "-skip_frame", "nokey", "-read_intervals", interval];
  try {
    const options = [...selection, "-show_entries", "frame=color_transfer:frame_side_data"];
    const { stdout } = await runFfprobe({ ffprobe, path, options, signal });
    const { frames } = Frames.parse(JSON.parse(stdout));
    const [first = [], ...later] = frames.map((frame) => frame.side_data_list ?? []);
    const sideData = [...first.filter(({ rotation }) => rotation !== 0), ...later.flat().filter(isCaptions)];
    const added = KINDS.flatMap((isKind) => (side_data_list.some(isKind) ? [] : (sideData.find(isKind) ?? [])));
    return {
      ...(frames[0]?.color_transfer === HLG ? { color_transfer: HLG } : {}),
      ...(added.length > 0 ? { side_data_list: [...side_data_list, ...added] } : {}),
    };
  } catch {
    signal.throwIfAborted();
    // The encode reports a frame that cannot be decoded.
    return {};
  }
}

// Audio that ffprobe cannot describe, because it starts late, or because its packets contain no audio.

/**
 * Limits on the data that ffprobe reads for the parameters of a stream; by default 5 MB and 5 s. ffprobe keeps these
 * packets in memory.
 */
const PROBE_BYTES = 100e6;
const PROBE_SECONDS = 120;

const isUnknown = ({ codec_type, channels, empty }: ProbedStream): boolean =>
  codec_type === "audio" && channels === 0 && !empty;

/**
 * Adds `packets` like `withPacketTimes`. If ffprobe does not know the channels of some audio, probes more of the file.
 * Audio that still has no channels counts as empty, and other audio is used, if there is any. ffmpeg fails if it
 * decodes nothing of such a stream. Throws as `runFfprobe` and `withPacketTimes` do.
 */
export async function withAudioTimes(
  ffprobe: Tool,
  file: LocalFile,
  probe: MediaProbe,
  signal: AbortSignal,
): Promise<MediaProbe> {
  const known = probe.streams.some(isUnknown) ? await withChannels(ffprobe, file.path, probe, signal) : probe;
  const timed = await withPacketTimes(ffprobe, file, known, signal);
  const audio = chosenAudio(timed.streams);
  if (!audio || !isUnknown(audio)) return timed;
  const late = (audio.packets?.first ?? 0) - Number(timed.format.start_time ?? 0);
  if (late > PROBE_SECONDS / 2) return timed;
  const streams = known.streams.map((stream) =>
    stream.index === audio.index ? { ...stream, empty: true as const } : stream,
  );
  return withAudioTimes(ffprobe, file, { ...known, streams }, signal);
}

/** Adds the parameters of audio that a longer probe finds. Streams that only the longer probe finds are left out. */
async function withChannels(ffprobe: Tool, path: string, probe: MediaProbe, signal: AbortSignal): Promise<MediaProbe> {
  const amount = ["-probesize", String(PROBE_BYTES), "-analyzeduration", String(PROBE_SECONDS * 1e6)];
  const { stdout } = await runFfprobe({ ffprobe, path, options: [...amount, "-show_format", "-show_streams"], signal });
  const all = MediaProbe.parse(JSON.parse(stdout)).streams;
  const streams = probe.streams.map((stream) => {
    const longer = all.find(({ index, codec_name }) => index === stream.index && codec_name === stream.codec_name);
    if (!longer || !isUnknown(stream) || isUnknown(longer)) return stream;
    const { channels, channel_layout, sample_fmt, sample_rate } = longer;
    return { ...stream, channels, channel_layout, sample_fmt, sample_rate };
  });
  return { ...probe, streams };
}
