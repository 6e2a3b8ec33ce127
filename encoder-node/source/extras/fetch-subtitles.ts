// Brings the subtitles of an output to this node's disk, as WebVTT in UTF-8.
import { AppError } from "#shared/errors.ts";
import { TEXT_DECODERS } from "#shared/media/decoders.ts";
import { err, ok, type Result } from "#shared/result.ts";
import { withoutScc } from "../../closed-captions/scc.ts";
import type { Tool } from "../../ffmpeg/discover/locate.ts";
import { runCommand } from "../../ffmpeg/run-command.ts";
import { escapedCues } from "../../package/text/escaped-text.ts";
import { movedCues } from "../../package/text/moved-cues.ts";
import { parseWebVtt, webVttText } from "../../package/text/subtitle-cues.ts";
import { segmentCharacters } from "../../package/text/subtitle-segments.ts";
import { parseTtml } from "../../package/text/ttml.ts";
import { readBytes, writeText } from "../../run-files/open-file.ts";
import { RunFiles } from "../../run-files/run-files.ts";
import { type ExtraDeps, fetchExtra } from "./fetch-extra.ts";
import { readSubtitle } from "./subtitle-text.ts";

/** Hours of speech are a few hundred kilobytes. */
const MAX_BYTES = 10e6;
/** For all files of a stream, as WebVTT. */
const MAX_TOTAL_BYTES = 20e6;
/** Limit for reading a file after its conversion. A file that is larger than `MAX_TOTAL_BYTES` is refused. */
const MAX_CONVERTED_BYTES = 2 * MAX_TOTAL_BYTES;
/** Limit for all text segments of a package: the segments of very long cues are far larger than their file. */
const MAX_SEGMENT_CHARACTERS = 50e6;
const CONVERT_MS = 60_000;

/** A WebVTT file that was read from the input. `isConverted`: from another format, by ffmpeg. */
export type InputText = { readonly path: string; readonly isConverted: boolean; readonly subject: string };

/** A file at a URL, or text of the input. */
export type Subtitle = {
  readonly source: { readonly url: string } | InputText;
  readonly language: string;
  readonly name: string;
  /** Added to all times. */
  readonly shiftMs: number;
};

export type FetchSubtitles = ExtraDeps & {
  readonly subtitles: readonly Subtitle[];
  /** The files get a subfolder of their own and are named `<name>-1.vtt` and so on. */
  readonly folder: string;
  readonly name: string;
  readonly ffmpeg: Tool;
};

/**
 * Returns the paths in the order of the subtitles, or the first failure. Reads the files in sequence, so that only a
 * single file is in memory at a time. Rejects as `fetchExtra` does.
 */
export async function fetchSubtitles(fetch: FetchSubtitles): Promise<Result<readonly string[]>> {
  const { subtitles, folder, name, ffmpeg, allow, signal } = fetch;
  const files = await RunFiles.create(folder);
  const paths: string[] = [];
  const sums: Size = { bytes: 0, characters: 0 };
  for (const [at, { source, name: shown, language, shiftMs }] of subtitles.entries()) {
    const file = `${name}-${at + 1}`;
    const vtt = files.pathOf(`${file}.vtt`);
    const use = async (from: Omit<InputText, "subject">): Promise<void> => {
      await prepare(from, vtt, shiftMs);
      addSize(sums, await usableSize(vtt));
    };
    const convertAndUse = async (path: string): Promise<void> => {
      const isConverted = await convert({ path, files, file, language, ffmpeg, signal });
      await use({ path: vtt, isConverted });
    };
    const found =
      "url" in source
        ? await fetchExtra(
            { ...KIND, url: source.url, path: files.pathOf(`${file}.bin`), subject: `The subtitles \`${shown}\`` },
            convertAndUse,
            { allow, signal },
          )
        : await usable(source.subject, () => use(source));
    if (!found.ok) return found;
    paths.push(vtt);
  }
  return ok(paths);
}

/** Resolves with the failure of a track of the input. */
async function usable(subject: string, use: () => Promise<void>): Promise<Result<unknown>> {
  try {
    return ok(await use());
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "subtitle_failed") throw error;
    return err({ code: error.code, message: `${subject} cannot be used: ${error.message}.` });
  }
}

/** Writes the text with its times moved, and escaped if ffmpeg wrote it. Other text stays as it is. */
async function prepare({ path, isConverted }: Omit<InputText, "subject">, to: string, shiftMs: number): Promise<void> {
  if (path === to && shiftMs === 0 && !isConverted) return;
  const text = parseWebVtt(await vttText(path));
  if (!text) throw new AppError("subtitle_failed", "it is not readable WebVTT");
  await writeText(to, webVttText(movedCues(isConverted ? escapedCues(text) : text, shiftMs)));
}

const KIND = { code: "subtitle_failed", maxBytes: MAX_BYTES, expected: "a file of subtitles" } as const;

type Conversion = {
  readonly path: string;
  readonly files: RunFiles;
  readonly file: string;
  readonly language: string;
  readonly ffmpeg: Tool;
  readonly signal: AbortSignal;
};

/** Keeps WebVTT unchanged: ffmpeg would drop its styles and regions. Returns true if ffmpeg converted the file. */
async function convert({ path, files, file, language, ffmpeg, signal }: Conversion): Promise<boolean> {
  const { format, text } = readSubtitle(await readBytes(path, MAX_BYTES), language);
  const kept = files.pathOf(`${file}.${format}`);
  await writeText(kept, text);
  if (format === "vtt") return false;
  if (format === "scc") {
    await writeText(files.pathOf(`${file}.vtt`), await withoutScc(text, signal));
    return false;
  }
  if (format === "ttml") {
    const parsed = parseTtml(text);
    if (!parsed) throw new AppError("subtitle_failed", "it is not TTML with media times and without a DTD");
    await writeText(files.pathOf(`${file}.vtt`), webVttText(parsed));
    return false;
  }
  const argv = [
    ...["-v", "error", "-nostdin", "-y", "-protocol_whitelist", "file", "-format_whitelist", format],
    ...["-codec_whitelist", TEXT_DECODERS, "-f", format, "-i", `file:${kept}`],
    ...["-map", "0:s:0", "-f", "webvtt", `file:${file}.vtt`],
  ];
  const command = { path: ffmpeg.path, argv, reads: [kept], signal, stallMs: CONVERT_MS };
  const result = await files.inRun((cwd) => runCommand({ ...command, cwd }));
  signal.throwIfAborted();
  if (!result.ok) throw new AppError("subtitle_failed", `it is not readable ${format === "ass" ? "ASS" : "SubRip"}`);
  return true;
}

/** `characters`: the length of all text segments in HLS. */
type Size = { bytes: number; characters: number };

/** The size of the converted file. Throws when later steps could not read the file. */
async function usableSize(path: string): Promise<Size> {
  const text = await vttText(path);
  const parsed = parseWebVtt(text);
  if (!parsed) throw new AppError("subtitle_failed", "it is not readable WebVTT");
  return { bytes: Buffer.byteLength(text), characters: segmentCharacters(parsed) };
}

/** A conversion may leave a file of any content, or none. */
async function vttText(path: string): Promise<string> {
  const bytes = await readBytes(path, MAX_CONVERTED_BYTES).catch((error: unknown) => {
    throw new AppError("subtitle_failed", "it is not readable text", { cause: error });
  });
  return bytes.toString();
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
