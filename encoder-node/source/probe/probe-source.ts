// Probes a source, including what only its frames and packets contain.
import * as z from "zod";
import { chosenVideo } from "#shared/media/choose-streams.ts";
import type { MediaProbe, ProbedStream } from "#shared/media/media-probe.ts";
import type { Tool } from "../../ffmpeg/build/locate.ts";
import type { LocalFile } from "../frame-index/run-packet-listing.ts";
import { probeDecodable } from "./probe-decodable.ts";
import { runFfprobe } from "./run-ffprobe.ts";
import { withAudioTimes } from "./unknown-audio.ts";

/**
 * Codecs whose frames may contain a rotation: phones write it into the EXIF data of a JPEG, some cameras into messages
 * in H.264 and HEVC. ffmpeg applies it; ffprobe reports it for frames only.
 */
const ROTATION_CODECS = new Set(["mjpeg", "h264", "hevc"]);

const Frames = z.object({
  frames: z.array(
    z.looseObject({ side_data_list: z.array(z.looseObject({ rotation: z.number().optional() })).optional() }),
  ),
});

/**
 * Probes a source like `probeDecodable`, and reads when its packets start and end (`withAudioTimes`). A rotation that
 * only the first frame contains is added to the stream's side data. Decoding that frame takes about 50 ms, at the same
 * time as the packets are read.
 */
export async function probeSource(
  ffprobe: Tool,
  file: string | LocalFile,
  signal: AbortSignal = new AbortController().signal,
): Promise<MediaProbe> {
  const local = typeof file === "string" ? { path: file } : file;
  const { path } = local;
  const probe = await probeDecodable(ffprobe, path, signal);
  const [timed, sideData] = await Promise.all([
    withAudioTimes(ffprobe, local, probe, signal),
    rotatedSideData(ffprobe, path, probe, signal),
  ]);
  if (!sideData) return timed;
  const { index, side_data_list } = sideData;
  const streams = timed.streams.map((stream) => (stream.index === index ? { ...stream, side_data_list } : stream));
  return { ...timed, streams };
}

/** The side data of the used video with a rotation that only its first frame contains; null: it has none. */
async function rotatedSideData(
  ffprobe: Tool,
  path: string,
  probe: MediaProbe,
  signal: AbortSignal,
): Promise<Pick<ProbedStream, "index" | "side_data_list"> | null> {
  const video = chosenVideo(probe.streams);
  if (!video || !ROTATION_CODECS.has(video.codec_name ?? "")) return null;
  if (video.side_data_list?.some(({ rotation }) => rotation !== undefined)) return null;
  const rotation = await firstRotation(ffprobe, path, video.index, signal);
  if (!rotation) return null;
  const rotated = { side_data_type: "Display Matrix", rotation };
  return { index: video.index, side_data_list: [...(video.side_data_list ?? []), rotated] };
}

/** In degrees, as ffprobe counts them; null without a rotation in the first frame. */
async function firstRotation(
  ffprobe: Tool,
  path: string,
  streamIndex: number,
  signal?: AbortSignal,
): Promise<number | null> {
  const selection = ["-select_streams", String(streamIndex), "-read_intervals", "%+#1"];
  try {
    const options = [...selection, "-show_entries", "frame_side_data=rotation"];
    const { stdout } = await runFfprobe({ ffprobe, path, options, signal });
    const [frame] = Frames.parse(JSON.parse(stdout)).frames;
    return frame?.side_data_list?.find(({ rotation }) => rotation !== undefined)?.rotation ?? null;
  } catch {
    signal?.throwIfAborted();
    // The encode reports a frame that cannot be decoded.
    return null;
  }
}
