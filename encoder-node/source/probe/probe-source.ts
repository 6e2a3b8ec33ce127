// What a source is, with what only its frames and packets tell.
import * as z from "zod";
import { chosenVideo } from "#shared/media/choose-streams.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import type { Tool } from "../../ffmpeg/build/locate.ts";
import { withPacketTimes } from "./packet-times.ts";
import { runFfprobe } from "./probe.ts";
import { probeDecodable } from "./probe-decodable.ts";

/**
 * Codecs whose pictures may say themselves how to be turned: telephones write it into a JPEG's EXIF, some cameras into
 * messages inside H.264 and HEVC. ffmpeg heeds that; ffprobe tells it of frames only.
 */
const TURNING_CODECS = new Set(["mjpeg", "h264", "hevc"]);

const Frames = z.object({
  frames: z.array(
    z.looseObject({ side_data_list: z.array(z.looseObject({ rotation: z.number().optional() })).optional() }),
  ),
});

/**
 * Probes a source like `probeDecodable`, and reads when its packets begin and end (`withPacketTimes`). A rotation that only its
 * first picture has is added to the stream's side data. Decoding that picture takes some 50 ms.
 */
export async function probeSource(
  ffprobe: Tool,
  path: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<MediaProbe> {
  const probe = await probeDecodable(ffprobe, path, signal);
  return withPacketTimes(ffprobe, path, await withRotation(ffprobe, path, probe, signal), signal);
}

async function withRotation(ffprobe: Tool, path: string, probe: MediaProbe, signal: AbortSignal): Promise<MediaProbe> {
  const picture = chosenVideo(probe.streams);
  if (!picture || !TURNING_CODECS.has(picture.codec_name ?? "")) return probe;
  if (picture.side_data_list?.some(({ rotation }) => rotation !== undefined)) return probe;
  const rotation = await firstRotation(ffprobe, path, picture.index, signal);
  if (!rotation) return probe;
  const turned = { side_data_type: "Display Matrix", rotation };
  const sideData = [...(picture.side_data_list ?? []), turned];
  const streams = probe.streams.map((stream) =>
    stream === picture ? { ...stream, side_data_list: sideData } : stream,
  );
  return { ...probe, streams };
}

/** In degrees as ffprobe counts them; null when the first packet is no picture that says so. */
async function firstRotation(
  ffprobe: Tool,
  path: string,
  streamIndex: number,
  signal?: AbortSignal,
): Promise<number | null> {
  const wanted = ["-select_streams", String(streamIndex), "-read_intervals", "%+#1"];
  try {
    const text = await runFfprobe(ffprobe, path, [...wanted, "-show_entries", "frame_side_data=rotation"], signal);
    const [frame] = Frames.parse(JSON.parse(text)).frames;
    return frame?.side_data_list?.find(({ rotation }) => rotation !== undefined)?.rotation ?? null;
  } catch {
    signal?.throwIfAborted();
    // A picture that cannot be decoded is for the encoder to report.
    return null;
  }
}
