// Joins the files of an encoded video track in a single file.
import { constants } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { PlannedOutput } from "#shared/plan/outputs/output-plan.ts";
import { openFile } from "../run-files/open-file.ts";

/** An encoded video track. `segments`: the folder and the name prefix of its MPEG-TS segments. */
export type MadeVideo = { readonly track: string } & (
  | { readonly path: string }
  | { readonly segments: { readonly folder: string; readonly prefix: string } }
);

/** The video tracks that a planned output has in a folder. */
export function madeVideos({ stream, tracks, files }: PlannedOutput, folder: string): MadeVideo[] {
  if (!stream) {
    const [file] = files;
    return file !== undefined && tracks.some(({ kind }) => kind === "video")
      ? [{ track: "video", path: join(folder, file) }]
      : [];
  }
  return stream.tracks.flatMap(({ name, kind, fmp4, ts }): MadeVideo[] => {
    if (kind !== "video") return [];
    if (fmp4 !== null) return [{ track: name, path: join(folder, fmp4) }];
    return ts === null ? [] : [{ track: name, segments: { folder, prefix: `${ts.replace(/\.m3u8$/, "")}-` } }];
  });
}

const APPEND = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND;

/**
 * Returns the path of a file with the whole track: its own file, or a file in `folder` to which its segments are
 * copied.
 */
export async function wholeVideo(video: MadeVideo, folder: string): Promise<string> {
  if ("path" in video) return video.path;
  const { segments } = video;
  const names = await readdir(segments.folder);
  const segmentNames = names.filter(
    (name) => name.startsWith(segments.prefix) && /^\d{5}\.ts$/.test(name.slice(segments.prefix.length)),
  );
  const whole = join(folder, `${basename(segments.prefix)}whole.ts`);
  for (const name of segmentNames.toSorted()) {
    const from = await openFile(join(segments.folder, name));
    const to = await openFile(whole, APPEND);
    await pipeline(from.createReadStream(), to.createWriteStream());
  }
  return whole;
}
