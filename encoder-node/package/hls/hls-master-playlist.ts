// The playlist that players open: the variants, with what they need to choose one.
import type { StreamVariant } from "#shared/plan/streams/planned-stream.ts";
import { type Bandwidth, bandwidthOf } from "../bandwidth.ts";
import { rateOf } from "../frame-rates.ts";
import {
  inStreamFolder,
  keyframePlaylistFile,
  mediaPlaylistFile,
  segmentNumber,
  subtitlesName,
  urlOf,
} from "../package-files.ts";
import type { PackagedTrack } from "../segment.ts";
import { keyframeSpans } from "../spans.ts";
import { playlistText, quoted, tag } from "./hls-syntax.ts";

/** What viewers choose a text track by; `language` is a BCP 47 tag. */
export type SubtitleTraits = { readonly language: string; readonly name: string; readonly default: boolean };

export type MasterPlaylist = {
  /** The stream's folder, below that of the package. */
  readonly folder: string;
  readonly tracks: readonly PackagedTrack[];
  /** Those that name a track which the package does not have are left out. */
  readonly variants: readonly StreamVariant[];
  readonly subtitles: readonly SubtitleTraits[];
  readonly target: number;
  /** Whether tracks of pictures have playlists of their keyframes. */
  readonly keyframes: boolean;
};

/** Names of groups must not meet those of tracks only within a type of rendition (RFC 8216 §4.3.4.1.1). */
const SUBTITLE_GROUP = "subtitles";
/** Renditions of one kind are called the same in each group (ibid.). */
const AUDIO_NAME = "Audio";

type Variant = { readonly video: PackagedTrack | null; readonly audio: PackagedTrack | null };

export function masterPlaylist(master: MasterPlaylist): string {
  const { folder, subtitles, keyframes } = master;
  const variants = variantsOf(master);
  const groups = distinct(variants.map(({ video, audio }) => (video ? audio : null)));
  const pictures = keyframes ? distinct(variants.map(({ video }) => video)) : [];
  return playlistText([
    "#EXT-X-INDEPENDENT-SEGMENTS",
    ...groups.map((track) => audioRendition(track, folder)),
    ...subtitles.map((_, at) => subtitleRendition(subtitles, at, folder)),
    ...variants.flatMap((variant) => streamLines(variant, master)),
    ...pictures.map((track) => keyframeStream(track, master)),
  ]);
}

function variantsOf({ tracks, variants }: MasterPlaylist): Variant[] {
  const byName = new Map(tracks.map((track) => [track.name, track]));
  const trackOf = (name: string | null): PackagedTrack | null | undefined => (name === null ? null : byName.get(name));
  return variants.flatMap((variant) => {
    const [video, audio] = [trackOf(variant.video), trackOf(variant.audio)];
    return video !== undefined && audio !== undefined && (video ?? audio) !== null ? [{ video, audio }] : [];
  });
}

function distinct(tracks: readonly (PackagedTrack | null)[]): PackagedTrack[] {
  return [...new Set(tracks)].filter((track) => track !== null);
}

const uriOf = (folder: string, file: string): string => urlOf(inStreamFolder(folder, file));

const audioRendition = ({ name, sound }: PackagedTrack, folder: string): string =>
  tag("EXT-X-MEDIA", {
    TYPE: "AUDIO",
    "GROUP-ID": quoted(name),
    NAME: quoted(AUDIO_NAME),
    DEFAULT: "YES",
    AUTOSELECT: "YES",
    CHANNELS: sound && quoted(String(sound.channels)),
    URI: quoted(uriOf(folder, mediaPlaylistFile(name))),
  });

/** Players choose by language among those with AUTOSELECT, of which there should be one each (RFC 8216 §4.3.4.1.1). */
function subtitleRendition(subtitles: readonly SubtitleTraits[], at: number, folder: string): string {
  const [own, name] = [subtitles[at], subtitlesName(segmentNumber(at))];
  if (!own) throw new Error(`There are no subtitles ${at}`);
  const alike = subtitles.filter(({ language }) => language.toLowerCase() === own.language.toLowerCase());
  const chosen = alike.find((subtitle) => subtitle.default) ?? alike[0];
  return tag("EXT-X-MEDIA", {
    TYPE: "SUBTITLES",
    "GROUP-ID": quoted(SUBTITLE_GROUP),
    LANGUAGE: quoted(own.language),
    NAME: quoted(own.name),
    DEFAULT: own.default ? "YES" : "NO",
    AUTOSELECT: own === chosen ? "YES" : "NO",
    FORCED: "NO",
    URI: quoted(uriOf(folder, mediaPlaylistFile(name))),
  });
}

/** Rates of a variant are sums over what is played at once; text, which is a few hundred bits per second, is not counted. */
function streamLines({ video, audio }: Variant, { folder, subtitles, target }: MasterPlaylist): string[] {
  const tracks = [video, audio].filter((track) => track !== null);
  const bandwidths = tracks.map(({ segments, timescale }) => bandwidthOf(segments, timescale, target));
  const sum = (rate: (bandwidth: Bandwidth) => number): number =>
    bandwidths.reduce((total, bandwidth) => total + rate(bandwidth), 0);
  const file = mediaPlaylistFile((video ?? audio)?.name ?? "");
  return [
    tag("EXT-X-STREAM-INF", {
      BANDWIDTH: sum(({ peak }) => peak),
      "AVERAGE-BANDWIDTH": sum(({ average }) => average),
      CODECS: quoted(tracks.map(({ codec }) => codec).join(",")),
      RESOLUTION: resolution(video),
      "FRAME-RATE": video?.picture ? rateOf(video.picture.fps).fps.toFixed(3) : null,
      AUDIO: video && audio && quoted(audio.name),
      SUBTITLES: subtitles.length > 0 ? quoted(SUBTITLE_GROUP) : null,
      "CLOSED-CAPTIONS": "NONE",
    }),
    uriOf(folder, file),
  ];
}

function keyframeStream(track: PackagedTrack, { folder, target }: MasterPlaylist): string {
  const { peak, average } = bandwidthOf(keyframeSpans(track.segments), track.timescale, target);
  return tag("EXT-X-I-FRAME-STREAM-INF", {
    BANDWIDTH: peak,
    "AVERAGE-BANDWIDTH": average,
    CODECS: quoted(track.codec),
    RESOLUTION: resolution(track),
    URI: quoted(uriOf(folder, keyframePlaylistFile(track.name))),
  });
}

const resolution = (track: PackagedTrack | null): string | null =>
  track?.picture ? `${track.picture.width}x${track.picture.height}` : null;
