// The files of a package besides its segments: playlists, manifest, thumbnails.
import type { HttpStreamOutput } from "#shared/job/output-spec.ts";
import type { StreamThumbnails, StreamVariant } from "#shared/plan/streams/planned-stream.ts";
import type { StoredSubtitles } from "../package/dash/dash-adaptation-sets.ts";
import { dashManifestFile } from "../package/dash/dash-manifest.ts";
import type { Growing } from "../package/growing.ts";
import { hlsTextFiles } from "../package/hls/hls-playlists.ts";
import { entryFile, inStreamFolder, type TextFile, thumbnailFile } from "../package/package-files.ts";
import { thumbnailVtt } from "../package/text-files.ts";
import type { RunFiles } from "../run-files/run-files.ts";
import { bytesContent, fileContent } from "../upload/content.ts";
import { madeFile } from "../upload/made-file.ts";
import { type PackageName, segmentFormatOf } from "./publication-options.ts";
import type { StreamFile } from "./stream-storage.ts";
import type { MadeTrack } from "./track-feed.ts";

export type StreamPackage = {
  readonly name: PackageName;
  readonly spec: HttpStreamOutput;
  /** The stream's folder, below the package's folder. */
  readonly folder: string;
  readonly tracks: readonly MadeTrack[];
  readonly variants: readonly StreamVariant[];
  /** The subtitles are already stored, except for their playlists. */
  readonly subtitles: readonly StoredSubtitles[];
  readonly thumbnails: (StreamThumbnails & { readonly sheets: readonly SpriteSheet[] }) | null;
  /** Set while the stream is encoded. */
  readonly growing?: Growing | null;
};

export type SpriteSheet = { readonly path: string; readonly sizeBytes: number };

/** `entries` are the files that players open. They are stored after all other files. */
export type PackageFiles = { readonly below: readonly StreamFile[]; readonly entries: readonly StreamFile[] };

/** Returns the sprite sheets that ffmpeg made. Throws AppError `encoding_failed` if a sprite sheet does not exist. */
export const spriteSheetsIn = (runFiles: RunFiles, { files }: StreamThumbnails): Promise<SpriteSheet[]> =>
  Promise.all(files.map((file) => madeFile(runFiles.pathOf(file))));

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
  return { below: all.filter(isBelow).map(named), entries: all.filter((file) => !isBelow(file)).map(named) };
}

/** The playlists and the manifest of a package. */
export function textsOf(stream: StreamPackage): TextFile[] {
  const { name, spec, folder, thumbnails } = stream;
  const { playlistName, segmentDurationMs, encryption, hls, dash } = spec;
  const common = { ...stream, playlistName, segmentDurationMs };
  const vtt = thumbnails && { file: entryFile(playlistName, "vtt"), text: thumbnailVtt(thumbnails.vtt, folder) };
  const sizes = thumbnails && { ...thumbnails, sizesBytes: thumbnails.sheets.map(({ sizeBytes }) => sizeBytes) };
  const byName = {
    hls: () => {
      const format = segmentFormatOf(spec, "hls");
      return hlsTextFiles({ ...common, format, keyUri: encryption?.keyUri ?? null, muxed: hls?.muxed ?? false });
    },
    dash: () => [
      dashManifestFile({ ...common, thumbnails: sizes }),
      ...(dash?.hlsFmp4 ? hlsTextFiles({ ...common, format: "fmp4", keyUri: null, muxed: false }) : []),
    ],
  } as const satisfies Record<PackageName, () => TextFile[]>;
  return [...byName[name](), ...(vtt ? [vtt] : [])];
}
