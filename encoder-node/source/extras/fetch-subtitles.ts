// Fetches the subtitles of a stream to this node's disk, as WebVTT in UTF-8.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "#shared/errors.ts";
import type { HttpStreamOutput } from "#shared/job/output-spec.ts";
import { SUBRIP_DECODERS } from "#shared/media/decoders.ts";
import { ok, type Result } from "#shared/result.ts";
import type { Tool } from "../../ffmpeg/build/locate.ts";
import { runCommand } from "../../ffmpeg/run-command.ts";
import { parseWebVtt } from "../../package/text/subtitle-cues.ts";
import { segmentCharacters } from "../../package/text/subtitle-segments.ts";
import { type ExtraDeps, fetchExtra } from "./fetch-extra.ts";
import { readSubtitle } from "./subtitle-text.ts";

/** Hours of speech are a few hundred kilobytes. */
const MAX_BYTES = 10e6;
/** For all files of a stream, as WebVTT. */
const MAX_TOTAL_BYTES = 20e6;
/** For all text segments of a package: subtitles whose cues last very long would be far larger than their files. */
const MAX_SEGMENT_CHARACTERS = 50e6;
const CONVERT_MS = 60_000;

export type Subtitle = HttpStreamOutput["subtitles"][number];

export type FetchSubtitles = ExtraDeps & {
  readonly subtitles: readonly Subtitle[];
  /** Where the files are written, as `<name>-1.vtt` and so on. */
  readonly folder: string;
  readonly name: string;
  readonly ffmpeg: Tool;
};

/**
 * Returns the paths in the order of the subtitles, or the first failure. Fetches one after the other, so that only
 * one is in memory at a time. Rejects as `fetchExtra` does.
 */
export async function fetchSubtitles(fetch: FetchSubtitles): Promise<Result<readonly string[]>> {
  const { subtitles, folder, name, ffmpeg, allow, signal } = fetch;
  const paths: string[] = [];
  const sums: Size = { bytes: 0, characters: 0 };
  for (const [at, { url, name: shown, language }] of subtitles.entries()) {
    const file = `${name}-${at + 1}`;
    const extra = { ...KIND, url, path: join(folder, `${file}.bin`), subject: `The subtitles \`${shown}\`` };
    const vtt = join(folder, `${file}.vtt`);
    const check = async (path: string): Promise<void> => {
      await convert({ path, folder, file, language, ffmpeg, signal });
      addSize(sums, await usableSize(vtt));
    };
    const fetched = await fetchExtra(extra, check, { allow, signal });
    if (!fetched.ok) return fetched;
    paths.push(vtt);
  }
  return ok(paths);
}

const KIND = { code: "subtitle_failed", maxBytes: MAX_BYTES, expected: "a file of subtitles" } as const;

type Conversion = {
  readonly path: string;
  readonly folder: string;
  readonly file: string;
  readonly language: string;
  readonly ffmpeg: Tool;
  readonly signal: AbortSignal;
};

/** Keeps WebVTT unchanged: ffmpeg would drop its styles and regions. */
async function convert({ path, folder, file, language, ffmpeg, signal }: Conversion): Promise<void> {
  const read = readSubtitle(await readFile(path), language);
  if (!read.ok) throw new AppError("subtitle_failed", read.error);
  const { format, text } = read.value;
  await writeFile(join(folder, `${file}.${format}`), text);
  if (format === "vtt") return;
  const argv = [
    ...["-v", "error", "-nostdin", "-y", "-protocol_whitelist", "file", "-format_whitelist", "srt"],
    ...["-codec_whitelist", SUBRIP_DECODERS, "-f", "srt", "-i", `file:${file}.srt`],
    ...["-map", "0:s:0", "-f", "webvtt", `file:${file}.vtt`],
  ];
  const result = await runCommand({ path: ffmpeg.path, argv, cwd: folder, signal, stallMs: CONVERT_MS });
  signal.throwIfAborted();
  if (!result.ok) throw new AppError("subtitle_failed", "it is not readable SubRip");
}

/** `characters` counts those of the segments in HLS. */
type Size = { bytes: number; characters: number };

/** The size of a file as it is kept. Throws when later steps could not read it. */
async function usableSize(path: string): Promise<Size> {
  const bytes = await readFile(path);
  const text = parseWebVtt(bytes.toString());
  if (!text) throw new AppError("subtitle_failed", "it is not readable WebVTT");
  return { bytes: bytes.length, characters: segmentCharacters(text) };
}

function addSize(sums: Size, { bytes, characters }: Size): void {
  sums.bytes += bytes;
  sums.characters += characters;
  if (sums.bytes > MAX_TOTAL_BYTES) {
    throw new AppError("subtitle_failed", `with it, the stream's subtitles are more than ${MAX_TOTAL_BYTES / 1e6} MB`);
  }
  if (sums.characters > MAX_SEGMENT_CHARACTERS) {
    throw new AppError("subtitle_failed", "it has too many cues, or large styles, that are shown for too long");
  }
}
