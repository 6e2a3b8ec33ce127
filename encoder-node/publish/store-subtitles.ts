// The text tracks of a stream on their way to the storage, one after the other: never more than one is in memory.
import { readFile } from "node:fs/promises";
import { AppError, type Failure } from "#shared/errors.ts";
import type { StoredSubtitles } from "../package/dash/dash-adaptation-sets.ts";
import type { SubtitleTraits } from "../package/hls/hls-master-playlist.ts";
import type { PackageText } from "../package/package-files.ts";
import { lastEndMs } from "../package/spans.ts";
import { parseWebVtt, type WebVtt, webVttText } from "../package/text/subtitle-cues.ts";
import { segmentedSubtitle, wholeSubtitle } from "../package/text/subtitle-texts.ts";
import { bytesContent } from "../upload/content.ts";
import type { StreamPackage } from "./stream-package.ts";
import type { StreamStorage } from "./stream-storage.ts";

/** A file of WebVTT on this node's disk. */
export type SubtitleFile = SubtitleTraits & { readonly path: string };

type TextPackage = Pick<StreamPackage, "name" | "spec" | "folder" | "tracks">;

/** Stores what packages have of the texts, but for playlists; or says why the storage does not take it. */
export async function storeSubtitles(
  files: readonly SubtitleFile[],
  packages: readonly TextPackage[],
  storage: StreamStorage,
): Promise<{ readonly subtitles: StoredSubtitles[] } | { failure: Failure }> {
  const subtitles: StoredSubtitles[] = [];
  for (const [at, { path, ...traits }] of files.entries()) {
    const text = parseWebVtt(await readFile(path, "utf8"));
    if (!text) throw new AppError("node_failed", `The subtitles \`${traits.name}\` are not as they were fetched`);
    for (const stream of packages) {
      const texts = textsOf(stream, text, at);
      storage.add(
        texts.map(({ file, text }) => ({ file: `${stream.name}/${file}`, content: bytesContent(Buffer.from(text)) })),
      );
      const failure = await storage.settled();
      if (failure) return { failure };
    }
    subtitles.push({ ...traits, sizeBytes: Buffer.byteLength(webVttText(text)) });
  }
  return { subtitles };
}

function textsOf({ name, spec, folder, tracks }: TextPackage, text: WebVtt, at: number): PackageText[] {
  const segmented = name === "hls" || spec.dash?.hlsFmp4;
  return [
    ...(name === "dash" ? [wholeSubtitle(text, { folder, at })] : []),
    ...(segmented ? segmentedSubtitle(text, lastEndMs(tracks), { folder, at }) : []),
  ];
}
