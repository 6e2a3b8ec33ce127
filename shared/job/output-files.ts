// Files of an output that its specification determines.
import { assertNever } from "../errors.ts";
import { joinPath } from "./object-name.ts";
import type { FrameSelection, HttpStreamOutput, ImageOutput, SegmentFormat } from "./output-spec.ts";

/** Number of frames taken from the source; null if it depends on the length of the source. */
export function frameCount(selection: FrameSelection): number | null {
  switch (selection.by) {
    case "number":
      return selection.number;
    case "offsets":
      return selection.offsetsMs.length;
    case "interval":
      return null;
    case "scenes":
      return 1;
    default:
      return assertNever(selection);
  }
}

/** Number of image files of an output, without its WebVTT file; null if it depends on the length of the source. */
export function imageFileCount({ selection, sprite }: Pick<ImageOutput, "selection" | "sprite">): number | null {
  const frames = frameCount(selection);
  if (!sprite) return frames;
  if (sprite.limit === null) return 1;
  return frames === null ? null : Math.ceil(frames / sprite.limit);
}

/** A file of a stream with a fixed path: its name in uploads (protocol/uploads.ts), and the path of the object. */
export type EntryFile = { readonly file: string; readonly path: string };
export type Playlist = EntryFile & { readonly format: "hls" | "dash"; readonly segments: SegmentFormat };

type Packages = Pick<HttpStreamOutput, "hls" | "dash" | "playlistName">;

/** Returns the playlists that players open, in the order of the output's `urls` (api-v2 §5). */
export function playlistsOf(stream: Packages): Playlist[] {
  const { hls, dash } = stream;
  return [
    ...(hls ? [{ format: "hls" as const, segments: hls.segments, ...entryOf(stream, "hls", "m3u8") }] : []),
    ...(dash ? [{ format: "dash" as const, segments: "fmp4" as const, ...entryOf(stream, "dash", "mpd") }] : []),
    ...(dash?.hlsFmp4
      ? [{ format: "hls" as const, segments: "fmp4" as const, ...entryOf(stream, "dash", "m3u8") }]
      : []),
  ];
}

/**
 * Returns all files of a stream with fixed paths: its playlists and, in each package, WebVTT files of thumbnails and of
 * chapters, which only some sources have.
 */
export function entryFilesOf(stream: Packages & Pick<HttpStreamOutput, "thumbnails">): EntryFile[] {
  const packages = (["hls", "dash"] as const).filter((name) => stream[name]);
  const kinds = [...(stream.thumbnails ? ["vtt"] : []), "chapters.vtt"];
  return [...playlistsOf(stream), ...packages.flatMap((name) => kinds.map((kind) => entryOf(stream, name, kind)))];
}

function entryOf(stream: Packages, packageName: "hls" | "dash", extension: string): EntryFile {
  const name = `${stream.playlistName}.${extension}`;
  return { file: `${packageName}/${name}`, path: joinPath(stream[packageName]?.path ?? "", name) };
}
