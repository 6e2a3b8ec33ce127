// Brings the subtitles of a task's streams to this node's disk, as WebVTT in UTF-8.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError, type Failure } from "#shared/errors.ts";
import type { HttpStreamOutput } from "#shared/job/output-spec.ts";
import { SUBRIP_DECODERS } from "#shared/media/decoders.ts";
import type { Tool } from "../../ffmpeg/build/locate.ts";
import { runCommand } from "../../ffmpeg/run-command.ts";
import { parseWebVtt } from "../../package/text/subtitle-cues.ts";
import { segmentCharacters } from "../../package/text/subtitle-segments.ts";
import { type ExtraDeps, fetchExtra } from "./fetch-extra.ts";
import { readSubtitle } from "./subtitle-text.ts";

/** Hours of speech are some hundred kilobytes. */
const MAX_BYTES = 10e6;
/** Of all files of a stream, as WebVTT. */
const MAX_TOTAL_BYTES = 20e6;
/** Of all text segments of a package: texts whose every cue lasts all the film would be far more than their files. */
const MAX_SEGMENT_CHARACTERS = 50e6;
const CONVERT_MS = 60_000;

export type Subtitle = HttpStreamOutput["subtitles"][number];

export type FetchSubtitles = ExtraDeps & {
  readonly subtitles: readonly Subtitle[];
  /** Where the files go: `<name>-1.vtt` and so on. */
  readonly folder: string;
  readonly name: string;
  readonly ffmpeg: Tool;
};

/** The files in the order of the subtitles, or why the first that cannot be had cannot. */
export type FetchedSubtitles = { readonly paths: readonly string[] } | { readonly failure: Failure };

/** Fetches one after the other: each may be in memory for a moment. Rejects as `fetchExtra` does. */
export async function fetchSubtitles(fetch: FetchSubtitles): Promise<FetchedSubtitles> {
  const { subtitles, folder, name, ffmpeg, allow, signal } = fetch;
  const paths: string[] = [];
  const sums: Size = { bytes: 0, characters: 0 };
  for (const [at, { url, name: shown, language }] of subtitles.entries()) {
    const file = `${name}-${at + 1}`;
    const extra = { ...KIND, url, path: join(folder, `${file}.bin`), what: `The subtitles \`${shown}\`` };
    const vtt = join(folder, `${file}.vtt`);
    const check = async (path: string): Promise<void> => {
      await convert({ path, folder, file, language, ffmpeg, signal });
      addSize(sums, await usableSize(vtt));
    };
    const fetched = await fetchExtra(extra, check, { allow, signal });
    if ("failure" in fetched) return fetched;
    paths.push(vtt);
  }
  return { paths };
}

const KIND = { code: "subtitle_failed", maxBytes: MAX_BYTES, wanted: "file of subtitles" } as const;

type Conversion = {
  readonly path: string;
  readonly folder: string;
  readonly file: string;
  readonly language: string;
  readonly ffmpeg: Tool;
  readonly signal: AbortSignal;
};

/** Leaves WebVTT as it is: its styles and regions would not survive ffmpeg. */
async function convert({ path, folder, file, language, ffmpeg, signal }: Conversion): Promise<void> {
  const read = readSubtitle(await readFile(path), language);
  if ("reason" in read) throw new AppError("subtitle_failed", read.reason);
  await writeFile(join(folder, `${file}.${read.format}`), read.text);
  if (read.format === "vtt") return;
  const argv = [
    ...["-v", "error", "-nostdin", "-y", "-protocol_whitelist", "file", "-format_whitelist", "srt"],
    ...[
      "-codec_whitelist",
      SUBRIP_DECODERS,
      "-f",
      "srt",
      "-i",
      `file:${file}.srt`,
      "-map",
      "0:s:0",
      "-f",
      "webvtt",
      `file:${file}.vtt`,
    ],
  ];
  const result = await runCommand({ path: ffmpeg.path, argv, cwd: folder, signal, stallMs: CONVERT_MS });
  signal.throwIfAborted();
  if (!result.ok) throw new AppError("subtitle_failed", "its SubRip cannot be read");
}

/** `characters` are those of the segments that HLS would have. */
type Size = { bytes: number; characters: number };

/** Of a file as it is kept. Throws when no later step could read it. */
async function usableSize(path: string): Promise<Size> {
  const bytes = await readFile(path);
  const text = parseWebVtt(bytes.toString());
  if (!text) throw new AppError("subtitle_failed", "it is no WebVTT that can be read");
  return { bytes: bytes.length, characters: segmentCharacters(text) };
}

function addSize(sums: Size, { bytes, characters }: Size): void {
  sums.bytes += bytes;
  sums.characters += characters;
  if (sums.bytes > MAX_TOTAL_BYTES) {
    throw new AppError("subtitle_failed", `with it, the stream's subtitles are more than ${MAX_TOTAL_BYTES / 1e6} MB`);
  }
  if (sums.characters > MAX_SEGMENT_CHARACTERS) {
    throw new AppError("subtitle_failed", "too many cues, or large styles, are shown for too long");
  }
}
