// Probes a source, and rejects sources that ffmpeg cannot decode, with advice for the client.
import { AppError } from "#shared/errors.ts";
import {
  chosenAudio,
  chosenVideo,
  isEncrypted,
  undecodable,
  undecodableFailure,
} from "#shared/media/choose-streams.ts";
import type { MediaProbe, ProbedStream } from "#shared/media/media-probe.ts";
import type { Tool } from "../../ffmpeg/discover/locate.ts";
import { readStart } from "../../folders/open-source.ts";
import { type IsoFileType, readIsoFileType } from "./iso-file-type.ts";
import { probeWithChapters } from "./probe.ts";

/**
 * Brands of HEIF images with HEVC or of unnamed codecs (ISO/IEC 23008-12 §10, annex B): ffmpeg decodes single tiles of
 * them, or nothing.
 */
const HEIF_BRANDS: ReadonlySet<string> = new Set([
  "heic",
  "heix",
  "heim",
  "heis",
  "hevc",
  "hevx",
  "hevm",
  "hevs",
  "mif1",
  "msf1",
]);

/**
 * Probes like `probeWithChapters`. Also throws AppError `input_codec_not_supported` for HEIC, and `input_encrypted` when
 * the stream that would be used is encrypted. Encrypted audio beside a video is only marked as encrypted.
 */
export async function probeDecodable(ffprobe: Tool, path: string, signal?: AbortSignal): Promise<MediaProbe> {
  const fileType = await readIsoFileType(path);
  if (HEIF_BRANDS.has(fileType.brand ?? "")) {
    const message = "The input is a HEIC or HEIF image, which is not supported; convert it to JPEG, PNG or AVIF first.";
    throw new AppError("input_codec_not_supported", message);
  }
  const probed = await probeWithChapters(ffprobe, path, signal).catch((error: unknown) =>
    explain(error, path, fileType),
  );
  const probe = await withScrambled(marked(probed, fileType), path);
  const video = chosenVideo(probe.streams);
  const isHidden = !video && probe.streams.some((stream) => stream.codec_type === "video" && isEncrypted(stream));
  if (isHidden) throw encryptedStream("video");
  const taken = video ?? chosenAudio(probe.streams);
  const problem = taken && undecodable(taken);
  if (problem?.code === "input_encrypted") throw encrypted(problem);
  return probe;
}

/** A file that ffprobe cannot read may be encrypted, not damaged. */
async function explain(error: unknown, path: string, { encrypted: kinds }: IsoFileType): Promise<never> {
  if (!(error instanceof AppError) || error.code !== "input_not_media") throw error;
  if (kinds.size > 0) throw encryptedStream(kinds.has("video") ? "video" : "audio");
  throw (await scrambledPids(path)).size > 0 ? encryptedStream("video") : error;
}

function encryptedStream(kind: "video" | "audio"): AppError {
  const problem = undecodable({ index: 0, codec_type: kind, codec_tag_string: "encv" });
  if (!problem) throw new Error("An encrypted stream counts as decodable");
  return encrypted(problem);
}

const encrypted = (problem: Parameters<typeof undecodableFailure>[0]): AppError =>
  AppError.from(undecodableFailure(problem));

const ENTRIES = { video: "encv", audio: "enca" } as const;

/** Sets the codec tag of encrypted streams, because ffprobe reports the tag of the codec inside. */
const marked = (probe: MediaProbe, { encrypted: kinds }: IsoFileType): MediaProbe => ({
  ...probe,
  streams: probe.streams.map((stream) => {
    const kind = (["video", "audio"] as const).find((each) => each === stream.codec_type && kinds.has(each));
    return kind ? { ...stream, codec_tag_string: ENTRIES[kind] } : stream;
  }),
});

/** Sets the codec tag of streams of an MPEG-TS that ffprobe cannot read because they are scrambled. */
async function withScrambled(probe: MediaProbe, path: string): Promise<MediaProbe> {
  const isRead = ({ codec_type, width, channels }: ProbedStream): boolean =>
    (codec_type !== "video" || !!width) && (codec_type !== "audio" || !!channels);
  if (probe.format.format_name !== "mpegts" || probe.streams.every(isRead)) return probe;
  const pids = await scrambledPids(path);
  const streams = probe.streams.map((stream) => {
    const kind = (["video", "audio"] as const).find((each) => each === stream.codec_type);
    const isScrambled = kind && !isRead(stream) && pids.has(Number(stream.id));
    return isScrambled ? { ...stream, codec_tag_string: ENTRIES[kind] } : stream;
  });
  return { ...probe, streams };
}

// Recognizes an MPEG-TS whose payload is scrambled, as pay TV is recorded without its card.

/** Some thousand packets: a second of most broadcasts. */
const HEAD_BYTES = 1024 * 1024;
const SYNC = 0x47;
/** Lengths of packets: plain, with the timestamp of Blu-ray, with the parity of broadcasts. */
const PACKET_BYTES = [188, 192, 204];
/** Packets in a row that start with the sync byte in an MPEG-TS, and hardly in any other file. */
const CERTAIN_PACKETS = 10;
/** PIDs of tables come before the first, stuffing has the last (ISO/IEC 13818-1 table 2-3). */
const PIDS = { first: 0x20, stuffing: 0x1fff };

/**
 * The PIDs whose first packets are mostly scrambled; none for a file of another kind. Some receivers leave the mark on
 * packets that they have descrambled, so the result only explains streams that cannot be read.
 */
async function scrambledPids(path: string): Promise<ReadonlySet<number>> {
  return scrambledIn(await readStart(path, HEAD_BYTES));
}

function scrambledIn(bytes: Buffer): ReadonlySet<number> {
  const packets = packetsOf(bytes).map((at) => ({
    pid: bytes.readUInt16BE(at + 1) & 0x1fff,
    // `transport_scrambling_control` (§2.4.3.3).
    isScrambled: ((bytes[at + 3] ?? 0) & 0xc0) !== 0,
  }));
  const media = packets.filter(({ pid }) => pid >= PIDS.first && pid !== PIDS.stuffing);
  const scrambled = [...Map.groupBy(media, ({ pid }) => pid)].filter(
    ([, all]) => all.filter(({ isScrambled }) => isScrambled).length > all.length / 2,
  );
  return new Set(scrambled.map(([pid]) => pid));
}

/** The places of the packets; empty for a file of another kind. */
function packetsOf(bytes: Buffer): number[] {
  for (const length of PACKET_BYTES) {
    const starts = (from: number, count: number): number[] =>
      Array.from({ length: count }, (_, packet) => from + packet * length);
    for (let from = 0; from < length; from++) {
      if (starts(from, CERTAIN_PACKETS).every((at) => bytes[at] === SYNC)) {
        const count = Math.floor((bytes.length - from - 4) / length);
        return starts(from, count).filter((at) => bytes[at] === SYNC);
      }
    }
  }
  return [];
}
