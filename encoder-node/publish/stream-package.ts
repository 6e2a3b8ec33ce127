// What a package of a stream holds beside its segments: playlists, manifest, text tracks, thumbnails.
import { join } from "node:path";
import type { HttpStreamOutput } from "#shared/job/output-spec.ts";
import type { StreamThumbnails, StreamVariant } from "#shared/plan/streams/planned-stream.ts";
import type { StoredSubtitles } from "../package/dash/dash-adaptation-sets.ts";
import { dashTexts } from "../package/dash/dash-texts.ts";
import { hlsTexts } from "../package/hls/hls-playlists.ts";
import { entryFile, inStreamFolder, type PackageText, thumbnailFile } from "../package/package-files.ts";
import { thumbnailText } from "../package/text/thumbnail-cues.ts";
import { bytesContent, fileContent } from "../upload/content.ts";
import { madeFile } from "../upload/made-file.ts";
import { segmentFormatOf } from "./stream-feeds.ts";
import type { StreamFile } from "./stream-storage.ts";
import type { MadeTrack } from "./track-feed.ts";

export type PackageName = "hls" | "dash";

export type StreamPackage = {
  readonly name: PackageName;
  readonly spec: HttpStreamOutput;
  /** The stream's folder, below that of the package. */
  readonly folder: string;
  readonly tracks: readonly MadeTrack[];
  readonly variants: readonly StreamVariant[];
  /** What is stored of them already, but for playlists. */
  readonly subtitles: readonly StoredSubtitles[];
  readonly thumbnails: (StreamThumbnails & { readonly sheets: readonly Sheet[] }) | null;
};

export type Sheet = { readonly path: string; readonly sizeBytes: number };

/** `entries` are what players open: they are worth storing when all else is stored. */
export type PackageFiles = { readonly below: readonly StreamFile[]; readonly entries: readonly StreamFile[] };

/** The sheets of thumbnails in a working folder. Throws AppError `encoding_failed` when one is not there. */
export const sheetsIn = (folder: string, { files }: StreamThumbnails): Promise<Sheet[]> =>
  Promise.all(files.map((file) => madeFile(join(folder, file))));

export async function packageFiles(stream: StreamPackage): Promise<PackageFiles> {
  const { name, folder, thumbnails } = stream;
  const sheets = (thumbnails?.sheets ?? []).map(async ({ path }, at) => ({
    file: inStreamFolder(folder, thumbnailFile(at + 1)),
    content: await fileContent(path),
  }));
  const texts = textsOf(stream).map(({ file, text }) => ({ file, content: bytesContent(Buffer.from(text)) }));
  const all = [...(await Promise.all(sheets)), ...texts];
  const isBelow = ({ file }: StreamFile): boolean => file.startsWith(inStreamFolder(folder, ""));
  const named = (file: StreamFile): StreamFile => ({ ...file, file: `${name}/${file.file}` });
  return {
    below: all.filter(isBelow).map(named),
    entries: all.filter((file) => !isBelow(file)).map(named),
  };
}

function textsOf(stream: StreamPackage): PackageText[] {
  const { name, spec, folder, thumbnails } = stream;
  const { playlistName, segmentDurationMs, encryption, hls, dash } = spec;
  const common = { ...stream, playlistName, segmentDurationMs };
  const vtt = thumbnails && { file: entryFile(playlistName, "vtt"), text: thumbnailText(thumbnails.vtt, folder) };
  const sizes = thumbnails && { ...thumbnails, sizesBytes: thumbnails.sheets.map(({ sizeBytes }) => sizeBytes) };
  const byName = {
    hls: () => {
      const format = segmentFormatOf(spec, "hls");
      return hlsTexts({ ...common, format, keyUri: encryption?.keyUri ?? null, muxed: hls?.muxed ?? false });
    },
    dash: () => [
      ...dashTexts({ ...common, thumbnails: sizes }),
      ...(dash?.hlsFmp4 ? hlsTexts({ ...common, format: "fmp4", keyUri: null, muxed: false }) : []),
    ],
  } as const satisfies Record<PackageName, () => PackageText[]>;
  return [...byName[name](), ...(vtt ? [vtt] : [])];
}
