// Which files an output consists of, as far as its specification tells.
import { assertNever } from "../errors.ts";
import { joinPath } from "./object-name.ts";
import type { HttpStreamOutput, ImageOutput, PictureSelection } from "./output-spec.ts";

/** How many pictures are taken from the source; null when that depends on its length. */
export function pictureCount(selection: PictureSelection): number | null {
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

/** How many image files an output has, without its WebVTT file; null when that depends on the source's length. */
export function imageFileCount({ selection, sprite }: Pick<ImageOutput, "selection" | "sprite">): number | null {
  const pictures = pictureCount(selection);
  if (!sprite) return pictures;
  if (sprite.limit === null) return 1;
  return pictures === null ? null : Math.ceil(pictures / sprite.limit);
}

/** What a stream stores at a fixed address: its name within a grant (protocol.ts), and the object that it becomes. */
export type EntryFile = { readonly file: string; readonly path: string };
export type Playlist = EntryFile & { readonly format: "hls" | "dash" };

type Packages = Pick<HttpStreamOutput, "hls" | "dash" | "playlistName">;

/** The playlists that players open, in the order of the output's `urls` (api-v2 §5). */
export function playlistsOf(stream: Packages): Playlist[] {
  const { hls, dash } = stream;
  return [
    ...(hls ? [{ format: "hls" as const, ...entryOf(stream, "hls", "m3u8") }] : []),
    ...(dash ? [{ format: "dash" as const, ...entryOf(stream, "dash", "mpd") }] : []),
    ...(dash?.hlsFmp4 ? [{ format: "hls" as const, ...entryOf(stream, "dash", "m3u8") }] : []),
  ];
}

/** All that a stream stores at fixed addresses: its playlists and, of its thumbnails, a WebVTT file in each package. */
export function entryFilesOf(stream: Packages & Pick<HttpStreamOutput, "thumbnails">): EntryFile[] {
  const packages = (["hls", "dash"] as const).filter((name) => stream.thumbnails && stream[name]);
  return [...playlistsOf(stream), ...packages.map((name) => entryOf(stream, name, "vtt"))];
}

function entryOf(stream: Packages, packageName: "hls" | "dash", extension: string): EntryFile {
  const name = `${stream.playlistName}.${extension}`;
  return { file: `${packageName}/${name}`, path: joinPath(stream[packageName]?.path ?? "", name) };
}
