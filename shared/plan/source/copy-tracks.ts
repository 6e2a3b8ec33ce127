// Checks whether a stream can be copied into a container.
import type { Failure } from "../../errors.ts";
import { TRACK_CONTAINER_TRAITS, type TrackContainer } from "../../format/containers.ts";
import type { TrackKind, VideoTrack } from "./source-tracks.ts";

/** Codecs that ffprobe and the format grammar name differently: the grammar's name by ffprobe's. */
const GRAMMAR_NAMES: Readonly<Record<string, string>> = {
  flv1: "flv",
  amr_nb: "amr-nb",
  pcm_s16le: "pcm-s16le",
  pcm_u8: "pcm-u8",
  pcm_alaw: "pcm-alaw",
};

/**
 * Codecs, by ffprobe's names, that a container holds in addition to the codecs that this service encodes. The
 * container's specification and common players know them, and ffmpeg's muxer writes them without `-strict`.
 */
const COPIED_ONLY: Readonly<Partial<Record<TrackContainer, Readonly<Record<TrackKind, string>>>>> = {
  mp4: { video: "mpeg1video vvc", audio: "eac3 alac dts mp1" },
  mov: {
    video: "mpeg1video cinepak svq3 qtrle rawvideo dvvideo",
    audio: "alac eac3 pcm_s16be pcm_s24le pcm_s24be pcm_s32le pcm_f32le",
  },
  mkv: {
    video: "mpeg1video vc1 wmv1 wmv3 msmpeg4v2 msmpeg4v3 ffv1 huffyuv utvideo rawvideo dvvideo vvc",
    audio: "eac3 dts truehd alac mp1 pcm_s16be pcm_s24le pcm_s32le pcm_f32le wmav1 wmapro tta wavpack",
  },
  mpegts: { video: "mpeg1video vvc", audio: "eac3 dts mp1 truehd" },
  avi: { video: "msmpeg4v2 msmpeg4v3 wmv1 wmv3 huffyuv ffv1 rawvideo dvvideo cinepak", audio: "mp1 pcm_s24le wmav1" },
  asf: { video: "wmv1 wmv3 vc1 msmpeg4v3", audio: "wmav1 wmapro" },
  flv: { video: "vp6f flashsv", audio: "speex nellymoser" },
  ogv: { video: "", audio: "speex" },
  ogg: { video: "", audio: "speex" },
  wav: { video: "", audio: "pcm_s24le pcm_s32le pcm_f32le pcm_mulaw adpcm_ms adpcm_ima_wav" },
  m4a: { video: "", audio: "alac eac3" },
};

/** True if a container can hold a codec. `codec` is ffprobe's name. */
function holds(container: TrackContainer, kind: TrackKind, codec: string): boolean {
  const named = GRAMMAR_NAMES[codec] ?? codec;
  const encoded: readonly string[] = TRACK_CONTAINER_TRAITS[container][kind];
  return encoded.includes(named) || (COPIED_ONLY[container]?.[kind].split(" ").includes(codec) ?? false);
}

/** Returns the reason why a source's stream of this codec cannot be copied into the container; null if it can. */
export function copyFailure(container: TrackContainer, kind: TrackKind, codec: string | null): Failure | null {
  if (codec === null) return failure(`The codec of the input's ${kind} is unknown, so it cannot be copied.`);
  if (holds(container, kind, codec)) return null;
  return failure(`The input's ${kind} is ${codec}, which ${container} cannot hold: it cannot be copied.`);
}

/** Demuxers that find no keyframe before a time. A copy from there cannot be decoded, perhaps to its end. */
const WITHOUT_INDEX: ReadonlySet<string> = new Set(["mpegts", "mpeg", "mpegvideo", "h264", "hevc", "m4v"]);

/** Returns the reason why copied video cannot start in the middle of a source of this format; null if it can. */
export function copyTrimFailure(format: string): Failure | null {
  if (!WITHOUT_INDEX.has(format)) return null;
  return failure(
    `The input (${format}) has no index of its keyframes, so a copy cannot start at an \`offset\`. ` +
      "Leave the offset out, or encode the video.",
  );
}

/** Elementary streams. ffmpeg cannot derive the times of reordered frames from their order. */
const WITHOUT_ANY_TIMES: ReadonlySet<string> = new Set(["h264", "hevc"]);

/**
 * Returns the reason why video of this format cannot be copied although the container holds its codec; null if it can.
 */
export function copyTimesFailure(format: string, { reorders }: VideoTrack): Failure | null {
  if (!reorders || !WITHOUT_ANY_TIMES.has(format)) return null;
  return failure(
    `The input (${format}) has no timestamps for its reordered frames, so it cannot be copied: encode it.`,
  );
}

/** Reading options of a source for a copy of its video. */
export type CopySource = {
  /** Options of the source. */
  readonly options: readonly string[];
  /** File that a first run makes of the source; null: the copy reads the source itself. */
  readonly unpacked: string | null;
};

/** Demuxers that do not give all packets a presentation time, which nearly all containers need. */
const WITHOUT_TIMES: ReadonlySet<string> = new Set(["avi", "mpeg", "mpegts", "mpegvideo"]);

/**
 * Bitstream filter for several frames of MPEG-4 in a packet of AVI ("packed B-frames"). It gives each frame its own
 * packet.
 */
export const UNPACKING = "mpeg4_unpack_bframes";

/**
 * Reading options of a source that may lack presentation times; null if it has them. ffmpeg derives the times from the
 * order of decoding (`genpts`), which is right only when each packet has a single frame.
 */
export function copySource(
  format: string,
  { codec, reorders }: VideoTrack,
  { index, container }: { readonly index: number; readonly container: TrackContainer },
): CopySource | null {
  if (!WITHOUT_TIMES.has(format) || container === format) return null;
  const mayBePacked = format === "avi" && codec === "mpeg4" && reorders;
  return { options: ["-fflags", "+genpts"], unpacked: mayBePacked ? `${index}-unpacked.avi` : null };
}

const failure = (message: string): Failure => ({ code: "copy_not_possible", message });
