// Leaves videos out of a planned stream, with their variants, and with audio that no other variant has.
import type { DroppedVideo } from "../../job/dropped-video.ts";

type Named = { readonly track: { readonly name: string } };
type Parts<Video extends Named, Audio> = {
  /** Indexes in `videos` and `audios`. */
  readonly variants: readonly { readonly video: number | null; readonly audio: number | null }[];
  readonly videos: readonly Video[];
  readonly audios: readonly Audio[];
};

/** What stays keeps its names, so chunks that were encoded with all videos still fit. */
export function withoutDropped<Video extends Named, Audio>(
  { variants, videos, audios }: Parts<Video, Audio>,
  dropped: readonly DroppedVideo[],
): Parts<Video, Audio> {
  const stays = ({ track }: Named): boolean => !dropped.some((one) => one.track === track.name);
  const kept = variants.filter(({ video }) => {
    const own = video === null ? undefined : videos[video];
    return !own || stays(own);
  });
  const keptVideos = videos.filter(stays);
  const keptAudios = audios.filter((_, at) => kept.some(({ audio }) => audio === at));
  return {
    variants: kept.map(({ video, audio }) => ({
      video: newIndex(videos, keptVideos, video),
      audio: newIndex(audios, keptAudios, audio),
    })),
    videos: keptVideos,
    audios: keptAudios,
  };
}

function newIndex<Item>(before: readonly Item[], after: readonly Item[], at: number | null): number | null {
  const item = at === null ? undefined : before[at];
  return item === undefined ? null : after.indexOf(item);
}
