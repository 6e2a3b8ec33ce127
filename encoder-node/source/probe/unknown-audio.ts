// Audio that ffprobe cannot describe, because it starts late, or because its packets contain no audio.
import { chosenAudio } from "#shared/media/choose-streams.ts";
import { MediaProbe, type ProbedStream } from "#shared/media/media-probe.ts";
import type { Tool } from "../../ffmpeg/discover/locate.ts";
import type { LocalFile } from "../frame-index/run-packet-listing.ts";
import { withPacketTimes } from "./packet-times.ts";
import { runFfprobe } from "./run-ffprobe.ts";

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
