// Which files an output consists of, as far as its specification tells.
import { assertNever } from "./errors.ts";
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

export type Playlist = { format: "hls" | "dash"; path: string };

/** The playlists that players open, in the order of the output's `urls` (api-v2 §5). */
export function playlistsOf({
  hls,
  dash,
  playlistName,
}: Pick<HttpStreamOutput, "hls" | "dash" | "playlistName">): Playlist[] {
  const at = (folder: string, extension: string): string => joinPath(folder, `${playlistName}.${extension}`);
  return [
    ...(hls ? [{ format: "hls" as const, path: at(hls.path, "m3u8") }] : []),
    ...(dash ? [{ format: "dash" as const, path: at(dash.path, "mpd") }] : []),
    ...(dash?.hlsFmp4 ? [{ format: "hls" as const, path: at(dash.path, "m3u8") }] : []),
  ];
}
