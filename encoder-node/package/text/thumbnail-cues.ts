// The WebVTT file that leads players from a moment to its picture.
import { inStreamFolder, THUMBNAIL_FOLDER, urlOf } from "../package-files.ts";

/** The entry file of the thumbnails: cues that point into the stream's folder instead of beside themselves. */
export function thumbnailText(vtt: string, folder: string): string {
  return vtt.replaceAll(new RegExp(`^(?=${THUMBNAIL_FOLDER}/)`, "gm"), urlOf(inStreamFolder(folder, "")));
}
