// Stores the files of a package besides its segments: subtitles, thumbnails, playlists, manifest.
import { AppError, type Failure, failureOf } from "#shared/errors.ts";
import type { HttpStreamOutput, SegmentFormat } from "#shared/job/output-spec.ts";
import { messageOf } from "#shared/log.ts";
import type { Chapter } from "#shared/media/chapters.ts";
import type { StreamThumbnails, StreamVariant } from "#shared/plan/streams/planned-stream.ts";
import type { StreamProbes } from "#shared/protocol/reports.ts";
import type { UploadedFile } from "#shared/protocol/uploads.ts";
import { err, ok, type Result } from "#shared/result.ts";
import { isRecent } from "../package/codec-order.ts";
import type { StoredSubtitles } from "../package/dash/dash-adaptation-sets.ts";
import { dashManifestFile } from "../package/dash/dash-manifest.ts";
import type { Growing } from "../package/growing.ts";
import { hlsTextFiles } from "../package/hls/hls-playlists.ts";
import { entryFile, inStreamFolder, type TextFile, thumbnailFile } from "../package/package-files.ts";
import { chapterVtt, segmentedSubtitle, thumbnailVtt, wholeSubtitle } from "../package/text-files.ts";
import type { RunFiles } from "../run-files/run-files.ts";
import { type SubtitleFile, textIn, type WebVtt, webVttText } from "../text/subtitle-cues.ts";
import { bytesContent, fileContent } from "../upload/content.ts";
import { madeFile } from "../upload/made-file.ts";
import { packageProbe } from "./package-probe.ts";
import type { StreamFile, StreamStorage } from "./stream-storage.ts";
import type { MadeTrack } from "./track-feed.ts";

export type PackageName = "hls" | "dash";

export const segmentFormatOf = (spec: HttpStreamOutput, name: PackageName): SegmentFormat =>
  name === "dash" ? "fmp4" : (spec.hls?.segments ?? "mpegts");

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
  readonly chapters: readonly Chapter[];
  /** Set while the stream is encoded. */
  readonly growing?: Growing | null;
};

export type SpriteSheet = { readonly path: string; readonly sizeBytes: number };

/** Returns the sprite sheets that ffmpeg made. Throws AppError `encoding_failed` if a sprite sheet does not exist. */
export const spriteSheetsIn = (runFiles: RunFiles, { files }: StreamThumbnails): Promise<SpriteSheet[]> =>
  Promise.all(files.map((file) => madeFile(runFiles.pathOf(file))));

export type Published = { readonly files: UploadedFile[]; readonly packages: StreamProbes };

/** Stores the files that players open after all other files are stored. Returns them in the order of the packages. */
export async function storePackages(
  packages: readonly StreamPackage[],
  storage: StreamStorage,
): Promise<Result<Published>> {
  const texts = await Promise.all(packages.map(packageFiles)).then(ok, (error: unknown) => err(playlistFailure(error)));
  if (!texts.ok) return texts;
  const files = texts.value;
  const uploaded: UploadedFile[] = [];
  const entries = files.flatMap((each) => each.entries);
  const stages: StreamFile[][] = [
    files.flatMap((each) => each.below),
    entries.map((entry, at) => ({
      ...entry,
      onStored: (file) => {
        uploaded[at] = file;
      },
    })),
  ];
  for (const stage of stages) {
    storage.add(stage);
    const failure = await storage.settled();
    if (failure) return err(failure);
  }
  const probes = packages.map(({ name, tracks, variants }) => [name, packageProbe(name, tracks, variants)]);
  return ok({ files: uploaded, packages: Object.fromEntries(probes) });
}

function playlistFailure(error: unknown): Failure {
  if (error instanceof AppError) return failureOf(error);
  return { code: "encoding_failed", message: `The playlists of the stream cannot be written: ${messageOf(error)}` };
}

/** `entries` are the files that players open. */
async function packageFiles(stream: StreamPackage) {
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
  const { name, spec, folder, thumbnails, chapters } = stream;
  const { playlistName, segmentDurationMs, encryption, hls, dash } = spec;
  // H.264 beside HEVC only is left to players, as in the manifest.
  const ranked = stream.tracks.some(isRecent);
  const common = { ...stream, playlistName, segmentDurationMs };
  const vtt = thumbnails && { file: entryFile(playlistName, "vtt"), text: thumbnailVtt(thumbnails.vtt, folder) };
  const sizes = thumbnails && { ...thumbnails, sizesBytes: thumbnails.sheets.map(({ sizeBytes }) => sizeBytes) };
  const byName = {
    hls: () => {
      const format = segmentFormatOf(spec, "hls");
      const muxed = hls?.muxed ?? false;
      return hlsTextFiles({ ...common, format, keyUri: encryption?.keyUri ?? null, muxed, ranked: true });
    },
    dash: () => [
      dashManifestFile({ ...common, thumbnails: sizes }),
      ...(dash?.hlsFmp4 ? hlsTextFiles({ ...common, format: "fmp4", keyUri: null, muxed: false, ranked }) : []),
    ],
  } as const satisfies Record<PackageName, () => TextFile[]>;
  const titles = { file: entryFile(playlistName, "chapters.vtt"), text: chapterVtt(chapters) };
  return [...byName[name](), ...(vtt ? [vtt] : []), ...(chapters.length > 0 ? [titles] : [])];
}

// Subtitles, in sequence, so that only a single file is in memory at a time.

type TextPackage = Pick<StreamPackage, "name" | "spec" | "folder"> & {
  /** The end of the stream, in ms. */
  readonly endMs: number;
};

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
      const texts = subtitleTexts(stream, text, at);
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

function subtitleTexts({ name, spec, folder, endMs }: TextPackage, text: WebVtt, at: number): TextFile[] {
  const segmented = name === "hls" || spec.dash?.hlsFmp4;
  return [
    ...(name === "dash" ? [wholeSubtitle(text, { folder, at })] : []),
    ...(segmented ? segmentedSubtitle(text, endMs, { folder, at }) : []),
  ];
}
