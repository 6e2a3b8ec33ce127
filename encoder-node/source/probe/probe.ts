// Probes a media file with ffprobe.
import { basename, extname } from "node:path";
import * as z from "zod";
import { AppError } from "#shared/errors.ts";
import { CHAPTER_ENTRIES, printedChapters } from "#shared/media/chapters.ts";
import { undecodable, undecodableFailure } from "#shared/media/choose-streams.ts";
import { ALLOWED_DECODERS } from "#shared/media/decoders.ts";
import { MediaProbe, type ProbedStream } from "#shared/media/media-probe.ts";
import type { Tool } from "../../ffmpeg/discover/locate.ts";
import { type FfprobeRun, frameTooLarge, isTooLarge, runFfprobe } from "./run-ffprobe.ts";

/**
 * Probes a local file, given by its absolute path. Throws as `runFfprobe` does, AppError `input_codec_not_supported`
 * when ffmpeg knows none of the codecs, and `input_not_media` when the file has neither video nor audio, frames that
 * are too large to decode, or more streams than a report can hold. `demuxer` is for files of a known format, because
 * very small files may be taken for other formats.
 */
export const probeFile = (ffprobe: Tool, path: string, signal?: AbortSignal, demuxer?: string): Promise<MediaProbe> =>
  probe({ ffprobe, path, signal, options: demuxer === undefined ? [] : ["-f", demuxer] }, PROGRAM_ENTRIES);

/** Probes a source like `probeFile`, with its chapters; without, if their titles are too long to be read. */
export async function probeWithChapters(ffprobe: Tool, path: string, signal?: AbortSignal): Promise<MediaProbe> {
  const run = { ffprobe, path, signal, options: [] };
  return probe(run, `${PROGRAM_ENTRIES}:${CHAPTER_ENTRIES}`).catch((error: unknown) =>
    isTooLarge(error) ? probe(run, PROGRAM_ENTRIES) : Promise.reject(error),
  );
}

async function probe(run: FfprobeRun, entries: string): Promise<MediaProbe> {
  const options = [...run.options, "-show_format", "-show_streams", "-show_entries", entries];
  const { stdout, stderr } = await runFfprobe({ ...run, options });
  const probed = parseProbe(stdout);
  if (!probed?.streams.some(isPlayable)) {
    const message = "The input has neither video nor audio; check that the source is a media file.";
    throw frameTooLarge(stderr) ?? unknownCodec(probed?.streams) ?? new AppError("input_not_media", message);
  }
  if (probed.streams.length > MAX_STREAMS) {
    const message = `The input has ${probed.streams.length} streams; at most ${MAX_STREAMS} are allowed.`;
    throw new AppError("input_not_media", message);
  }
  const visible = shownProbe(probed, run.path);
  const printed: unknown = JSON.parse(stdout);
  const [streams, chapters] = [withPrograms(visible.streams, printed), printedChapters(printed)];
  return { ...visible, streams, ...(chapters.length > 0 ? { chapters } : {}) };
}

/** Demuxers by extension: ffprobe takes larger images for sequences (`image2`), which are not allowed. */
const DEMUXERS: ReadonlyMap<string, string> = new Map([
  [".jpg", "jpeg_pipe"],
  [".png", "png_pipe"],
  [".webp", "webp_pipe"],
  [".gif", "gif"],
]);

/** Demuxers of text. The service takes no media in these formats. */
const TEXT_DEMUXERS: ReadonlyMap<string, string> = new Map([
  [".vtt", "webvtt"],
  [".srt", "srt"],
]);

/**
 * Probes an image or text that the node made. Returns null if ffprobe cannot read it: before version 8 ffprobe does
 * not know the size of an animated WebP. Rejects only when aborted.
 */
export async function probeSmallFile(ffprobe: Tool, path: string, signal: AbortSignal): Promise<MediaProbe | null> {
  const text = TEXT_DEMUXERS.get(extname(path));
  const demuxer = text ?? DEMUXERS.get(extname(path)) ?? "mov";
  const allowed = text === undefined ? {} : { allowed: { demuxers: text, decoders: ALLOWED_DECODERS } };
  try {
    const options = ["-f", demuxer, "-show_format", "-show_streams"];
    const { stdout } = await runFfprobe({ ffprobe, path, options, signal, ...allowed });
    const probe = parseProbe(stdout);
    return probe && shownProbe(probe, path);
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

/** The probe without the folder, which is internal: clients can read the probe. */
const shownProbe = ({ streams, format }: MediaProbe, path: string): MediaProbe => ({
  streams: streams.map(shortened),
  format: { ...shortened(format), filename: basename(path) },
});

/** Reports that contain the probe have a size limit, and files may have megabytes of text in their tags. */
const MAX_STREAMS = 64;
const MAX_TAGS = 64;
const MAX_TAG_CHARS = 1000;

function shortened<Tagged extends { tags?: Record<string, string> | undefined }>(part: Tagged): Tagged {
  if (!part.tags) return part;
  const tags = Object.entries(part.tags).slice(0, MAX_TAGS);
  const short = tags.map(([name, value]) => [name.slice(0, MAX_TAG_CHARS), value.slice(0, MAX_TAG_CHARS)]);
  return { ...part, tags: Object.fromEntries(short) };
}

const PROGRAM_ENTRIES = "program=program_id:program_stream=index";
const Programs = z.object({
  programs: z.array(
    z.object({ program_id: z.int().min(0), streams: z.array(z.object({ index: z.int() })).default([]) }),
  ),
});

/** Adds the numbers of its programs to each stream of a file with several programs. */
function withPrograms(streams: readonly ProbedStream[], output: unknown): ProbedStream[] {
  const programs = Programs.safeParse(output).data?.programs ?? [];
  if (programs.length < 2) return [...streams];
  return streams.map((stream) => {
    const containing = programs.filter((program) => program.streams.some(({ index }) => index === stream.index));
    return containing.length === 0 ? stream : { ...stream, programs: containing.map(({ program_id }) => program_id) };
  });
}

function isPlayable(stream: ProbedStream): boolean {
  if (stream.codec_type === "video") return !!stream.width && !!stream.height;
  return stream.codec_type === "audio" && !!stream.channels && Number(stream.sample_rate) > 0;
}

/** The failure of a file with only codecs that ffmpeg does not know, such as MPEG-H; null for other files. */
function unknownCodec(streams: readonly ProbedStream[] = []): AppError | null {
  const media = streams.filter(({ codec_type }) => codec_type === "audio" || codec_type === "video");
  const problem = media.map(undecodable).find((failure) => failure?.code === "input_codec_not_supported");
  return problem ? new AppError(problem.code, undecodableFailure(problem).message) : null;
}

const Printed = MediaProbe.omit({ chapters: true });

/** Null when the output lacks data that every media file has. */
function parseProbe(text: string): MediaProbe | null {
  try {
    return Printed.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
