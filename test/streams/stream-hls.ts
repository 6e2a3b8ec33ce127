// An HLS package, read by a third-party parser.
import * as hls from "hls-parser";
import { textAt } from "./stream-bytes.ts";
import type { PackageTrack, PackageVariant, StreamPackage } from "./stream-package.ts";

type Master = hls.types.MasterPlaylist;
type Media = hls.types.MediaPlaylist;

hls.setOptions({ strictMode: true });

export async function readHls(entry: string): Promise<StreamPackage> {
  const master = hls.parse(await textAt(entry));
  if (!isMaster(master)) throw new Error(`${entry} is no master playlist`);
  const at = (uri = ""): string => new URL(uri, entry).href;
  const variants = master.variants.filter(({ isIFrameOnly }) => !isIFrameOnly);
  const audioUrls = new Map(variants.flatMap(({ audio }) => audio).map(({ uri, groupId }) => [groupId, at(uri)]));
  const texts = new Set(variants.flatMap(({ subtitles }) => subtitles).map(({ uri }) => at(uri)));
  const videoUrls = new Set(variants.filter(({ resolution }) => resolution).map(({ uri }) => at(uri)));
  const audioOnly = variants.filter(({ resolution }) => !resolution).map(({ uri }) => at(uri));
  const keyframes = master.variants.filter(({ isIFrameOnly }) => isIFrameOnly).map(({ uri }) => at(uri));
  const [videos, audio, single, subtitles] = await Promise.all([
    Promise.all([...videoUrls].map(readMedia)),
    Promise.all([...new Set([...audioUrls.values(), ...audioOnly])].map(readMedia)),
    Promise.all(keyframes.map(readMedia)),
    Promise.all([...texts].map(readMedia)),
  ]);
  const playlists = [...videos, ...audio, ...single, ...subtitles];
  return {
    entry,
    files: [...new Set([entry, ...playlists.flatMap(filesOf)])],
    tracks: [
      ...videos.map((media) => trackOf(media, "video", keyframesOf(media, single))),
      ...audio.map((media) => trackOf(media, "audio", [])),
    ],
    variants: variants.map((variant): PackageVariant => {
      const [audioUrl] = variant.audio.map(({ groupId }) => audioUrls.get(groupId) ?? "");
      const tracks = [at(variant.uri), ...(audioUrl === undefined ? [] : [audioUrl])];
      return { tracks, bandwidth: variant.bandwidth, codecs: variant.codecs ?? "" };
    }),
    subtitles: subtitles.map(({ url, media }) => media.segments.map(({ uri }) => new URL(uri, url).href)),
    targetSeconds: playlists[0]?.media.targetDuration ?? null,
  };
}

type ReadMedia = { readonly url: string; readonly media: Media };

async function readMedia(url: string): Promise<ReadMedia> {
  const media = hls.parse(await textAt(url));
  if (isMaster(media)) throw new Error(`${url} is no media playlist`);
  if (!media.endlist || media.playlistType !== "VOD") throw new Error(`${url} is not complete`);
  return { url, media };
}

const isMaster = (playlist: Master | Media): playlist is Master => playlist.isMasterPlaylist;

const initOf = ({ url, media }: ReadMedia): string | null => {
  const uri = media.segments[0]?.map?.uri;
  return uri === undefined ? null : new URL(uri, url).href;
};

const filesOf = (read: ReadMedia): string[] => {
  const init = initOf(read);
  const segments = read.media.segments.map(({ uri }) => new URL(uri, read.url).href);
  return [read.url, ...(init === null ? [] : [init]), ...segments];
};

function trackOf(read: ReadMedia, kind: PackageTrack["kind"], keyframes: PackageTrack["keyframes"]): PackageTrack {
  const { url, media } = read;
  let start = 0;
  const segments = media.segments.map(({ uri, duration }) => {
    const segment = { url: new URL(uri, url).href, start, duration };
    start += duration;
    return segment;
  });
  const isEncrypted = media.segments.some(({ key }) => key !== undefined && key?.method !== "NONE");
  return { id: url, kind, init: initOf(read), segments, keyframes, isEncrypted };
}

/** The keyframes of `video`: entries of the playlist of keyframes that points into its segments. */
function keyframesOf(video: ReadMedia, playlists: readonly ReadMedia[]): PackageTrack["keyframes"] {
  const segments = new Set(filesOf(video));
  return playlists
    .flatMap(({ url, media }) => media.segments.map((segment) => ({ ...segment, url: new URL(segment.uri, url).href })))
    .filter(({ url }) => segments.has(url))
    .map(({ url, byterange }) => ({ url, offset: byterange?.offset ?? 0, length: byterange?.length ?? 0 }));
}
