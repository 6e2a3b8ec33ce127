// Brings the subtitles of an output to this node's disk, as WebVTT in UTF-8.
import { AppError } from "#shared/errors.ts";
import { err, ok, type Result } from "#shared/result.ts";
import { writeText } from "../run-files/open-file.ts";
import { RunFiles } from "../run-files/run-files.ts";
import { isolated } from "../text/parsing/isolated.ts";
import type { SubtitleFormat } from "../text/parsing/subtitle-text.ts";
import { type ExtraDeps, fetchExtra } from "./fetch-extra.ts";

/** Hours of speech are a few hundred kilobytes. */
const MAX_BYTES = 10e6;
/** For all files of a stream, as WebVTT. */
const MAX_TOTAL_BYTES = 20e6;
/** ASS with effects has megabytes. */
export const MAX_TRACK_BYTES = 40e6;
/** Limit for all text segments of a package: the segments of very long cues are far larger than their file. */
const MAX_SEGMENT_CHARACTERS = 50e6;

/** The file of a track that was read from the input. */
export type TrackFile = { readonly path: string; readonly format: SubtitleFormat };
export type InputText = TrackFile & { readonly subject: string };

/** A file at a URL, or text of the input. */
export type Subtitle = {
  readonly source: { readonly url: string } | InputText;
  readonly language: string;
  readonly name: string;
  /** Added to all times. */
  readonly shiftMs: number;
};

/** `notes`: sentences for the client about text that is lost. */
export type FetchedSubtitles = { readonly paths: readonly string[]; readonly notes: readonly string[] };

/**
 * Returns the paths in the order of the subtitles, or the first failure. The files get a new folder below `parent` and
 * are named `<name>-1.vtt` and so on. Reads the files in sequence, so that only a
 * single file is in memory at a time. Rejects as `fetchExtra` does.
 */
export async function fetchSubtitles(
  subtitles: readonly Subtitle[],
  { parent, name }: { readonly parent: string; readonly name: string },
  deps: ExtraDeps,
): Promise<Result<FetchedSubtitles>> {
  const files = await RunFiles.create(parent);
  const paths: string[] = [];
  const notes: string[] = [];
  const sums: Size = { bytes: 0, characters: 0 };
  for (const [at, { source, name: label, language, shiftMs }] of subtitles.entries()) {
    const vtt = files.pathOf(`${name}-${at + 1}.vtt`);
    const subject = "url" in source ? `The subtitles \`${label}\`` : source.subject;
    const use = async (path: string, format: SubtitleFormat | null): Promise<void> => {
      const input = { path, maxBytes: format ? MAX_TRACK_BYTES : MAX_BYTES };
      const { text, ...read } = await isolated("preparedText", [input, { language, format }, shiftMs], deps.signal);
      addSize(sums, read);
      await writeText(vtt, text);
      notes.push(...read.notes.map((note) => `${subject}: ${note}.`));
    };
    const file = files.pathOf(`${name}-${at + 1}.bin`);
    const fetched =
      "url" in source
        ? await fetchExtra({ ...KIND, url: source.url, path: file, subject }, (path) => use(path, null), deps)
        : await usable(subject, () => use(source.path, source.format));
    if (!fetched.ok) return fetched;
    paths.push(vtt);
  }
  return ok({ paths, notes });
}

/** Resolves with the failure of a text of the input. */
export async function usable<Value>(subject: string, use: () => Promise<Value>): Promise<Result<Value>> {
  try {
    return ok(await use());
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "subtitle_failed") throw error;
    return err({ code: error.code, message: `${subject} cannot be used: ${error.message}.` });
  }
}

const KIND = { code: "subtitle_failed", maxBytes: MAX_BYTES, expected: "a file of subtitles" } as const;

/** `characters`: the length of all text segments in HLS. */
type Size = { bytes: number; characters: number };

/** Throws when later steps could not read the file. */
function addSize(sums: Size, { bytes, characters }: Readonly<Size>): void {
  sums.bytes += bytes;
  sums.characters += characters;
  if (sums.bytes > MAX_TOTAL_BYTES) {
    throw new AppError("subtitle_failed", `with it, the stream's subtitles are more than ${MAX_TOTAL_BYTES / 1e6} MB`);
  }
  if (sums.characters > MAX_SEGMENT_CHARACTERS) {
    throw new AppError("subtitle_failed", "it has too many cues, or large styles, that are shown for too long");
  }
}
