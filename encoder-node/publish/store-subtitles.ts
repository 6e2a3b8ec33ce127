// Stores the subtitles of a stream in sequence, so that only a single file is in memory at a time.
import { AppError } from "#shared/errors.ts";
import { err, ok, type Result } from "#shared/result.ts";
import type { StoredSubtitles } from "../package/dash/dash-adaptation-sets.ts";
import type { TextFile } from "../package/package-files.ts";
import { segmentedSubtitle, wholeSubtitle } from "../package/text-files.ts";
import { readText } from "../run-files/open-file.ts";
import { parseWebVtt, type WebVtt, webVttText } from "../text/subtitle-cues.ts";
import { bytesContent } from "../upload/content.ts";
import type { SubtitleFile } from "./publication-options.ts";
import type { StreamPackage } from "./stream-package.ts";
import type { StreamStorage } from "./stream-storage.ts";

type TextPackage = Pick<StreamPackage, "name" | "spec" | "folder"> & {
  /** The end of the stream, in ms. */
  readonly endMs: number;
};

/** Larger than any accepted file. */
export const MAX_TEXT_BYTES = 64e6;

/**
 * Stores the subtitle files of the packages, except for playlists. Returns a failure if the storage does not accept the
 * files.
 */
export async function storeSubtitles(
  files: readonly SubtitleFile[],
  packages: readonly TextPackage[],
  storage: StreamStorage,
): Promise<Result<StoredSubtitles[]>> {
  const subtitles: StoredSubtitles[] = [];
  for (const [at, { path, ...traits }] of files.entries()) {
    const text = await textIn(path);
    for (const stream of packages) {
      const texts = textsOf(stream, text, at);
      storage.add(
        texts.map(({ file, text }) => ({ file: `${stream.name}/${file}`, content: bytesContent(Buffer.from(text)) })),
      );
      const failure = await storage.settled();
      if (failure) return err(failure);
    }
    subtitles.push({ ...traits, sizeBytes: Buffer.byteLength(webVttText(text)) });
  }
  return ok(subtitles);
}

/** Throws AppError `node_failed` if the file is no longer the WebVTT that the node wrote. */
export async function textIn(vtt: string): Promise<WebVtt> {
  const text = parseWebVtt(await readText(vtt, MAX_TEXT_BYTES));
  if (!text) throw new AppError("node_failed", "A text has changed on the node's disk");
  return text;
}

function textsOf({ name, spec, folder, endMs }: TextPackage, text: WebVtt, at: number): TextFile[] {
  const segmented = name === "hls" || spec.dash?.hlsFmp4;
  return [
    ...(name === "dash" ? [wholeSubtitle(text, { folder, at })] : []),
    ...(segmented ? segmentedSubtitle(text, endMs, { folder, at }) : []),
  ];
}
