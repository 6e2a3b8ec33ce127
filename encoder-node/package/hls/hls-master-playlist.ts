// The master playlist, which players open. It lists the variants with the attributes by which players choose.
import type { SubtitleTraits } from "#shared/job/subtitles.ts";
import { UNDETERMINED } from "#shared/media/languages.ts";
import type { StreamVariant } from "#shared/plan/streams/planned-stream.ts";
import type { PackagedTrack } from "../../codecs/segment.ts";
import { type Bandwidth, bandwidthOf } from "../bandwidth.ts";
import { hasSeveralCodecs, hlsOrder } from "../codec-order.ts";
import { rateOf } from "../frame-rates.ts";
import type { Growing } from "../growing.ts";
import {
  inStreamFolder,
  keyframePlaylistFile,
  mediaPlaylistFile,
  segmentNumber,
  subtitlesName,
  urlOf,
} from "../package-files.ts";
import { keyframeSpans } from "../spans.ts";
import { FROM_START, playlistText, quoted, tag } from "./hls-syntax.ts";

export type MasterPlaylist = {
  /** The stream's folder below the package's folder. */
  readonly folder: string;
  readonly tracks: readonly PackagedTrack[];
  /** Variants of the package's own tracks. */
  readonly variants: readonly StreamVariant[];
  readonly subtitles: readonly SubtitleTraits[];
  readonly target: number;
  /** True if video tracks have keyframe playlists. */
  readonly keyframes: boolean;
  /** Orders the variants by codec and gives them scores, if video has several codecs. False by default. */
  readonly ranked?: boolean;
  readonly growing: Growing | null;
};

/** Group names must be unique within a rendition type only (RFC 8216 §4.3.4.1.1), so an audio track may share it. */
const SUBTITLE_GROUP = "subtitles";
/** Matching renditions have the same name in every group (ibid.). */
const AUDIO_NAME = "Audio";

/** `group`: the encoding of the audio, if there is a list of tracks. */
type Variant = {
  readonly video: PackagedTrack | null;
  readonly audio: PackagedTrack | null;
  readonly group?: string | undefined;
};

export function masterPlaylist(master: MasterPlaylist): string {
  const { folder, subtitles, keyframes } = master;
  const variants = variantsOf(master);
  const single = distinct(variants.map(({ video, audio, group }) => (video && group === undefined ? audio : null)));
  const groups = [...new Set(variants.flatMap(({ group }) => group ?? []))];
  const videos = keyframes ? distinct(variants.map(({ video }) => video)) : [];
  return playlistText([
    "#EXT-X-INDEPENDENT-SEGMENTS",
    ...(master.growing ? [FROM_START] : []),
    ...single.map((track) => audioRendition(track, folder)),
    ...groups.flatMap((group) => groupOf(group, master.tracks).map((track) => listedRendition(track, group, folder))),
    ...subtitles.map((_, at) => subtitleRendition(subtitles, at, folder)),
    ...(hasCaptions(master) ? [CAPTIONS] : []),
    ...variants.flatMap((variant) => streamLines(variant, master)),
    ...videos.map((track) => keyframeStream(track, master)),
  ]);
}

function variantsOf({ tracks, variants, ranked }: MasterPlaylist): Variant[] {
  const byName = new Map(tracks.map((track) => [track.name, track]));
  const trackOf = (name: string | null): PackagedTrack | null => {
    const track = name === null ? null : byName.get(name);
    if (track === undefined) throw new Error(`No track ${name} in the package`);
    return track;
  };
  const all = variants.map(({ video, audio, group }) => ({ video: trackOf(video), audio: trackOf(audio), group }));
  if (!ranked || !hasSeveralCodecs(tracks)) return all;
  // Variants without video stay last.
  const orderOf = ({ video }: Variant): number => (video ? hlsOrder(video) : Number.POSITIVE_INFINITY);
  return all.toSorted((a, b) => (orderOf(a) === orderOf(b) ? 0 : orderOf(a) - orderOf(b)));
}

/**
 * The score of a variant: players prefer the best codec that they can decode, then the height. All variants of a
 * playlist have a score, or none, and scores are positive (draft-pantos-hls-rfc8216bis §4.4.6.2).
 */
function scoreOf(video: PackagedTrack | null, { tracks, ranked }: MasterPlaylist): number | null {
  if (!ranked || !hasSeveralCodecs(tracks)) return null;
  const heights = [...new Set(tracks.flatMap((track) => track.video?.height ?? []))].toSorted((a, b) => a - b);
  if (!video?.video) return 1;
  return hlsOrder(video) * Math.max(SCORES_PER_CODEC, heights.length) + heights.indexOf(video.video.height);
}

const SCORES_PER_CODEC = 10;

function distinct(tracks: readonly (PackagedTrack | null)[]): PackagedTrack[] {
  return [...new Set(tracks)].filter((track) => track !== null);
}

const uriOf = (folder: string, file: string): string => urlOf(inStreamFolder(folder, file));

const audioRendition = ({ name, audio, language }: PackagedTrack, folder: string): string =>
  tag("EXT-X-MEDIA", {
    TYPE: "AUDIO",
    "GROUP-ID": quoted(name),
    LANGUAGE: language === undefined ? null : quoted(language),
    NAME: quoted(AUDIO_NAME),
    DEFAULT: "YES",
    AUTOSELECT: "YES",
    CHANNELS: audio && quoted(String(audio.channels)),
    URI: quoted(uriOf(folder, mediaPlaylistFile(name))),
  });

const groupOf = (group: string, tracks: readonly PackagedTrack[]): PackagedTrack[] =>
  tracks
    .filter(({ rendition }) => rendition?.groups.includes(group))
    .toSorted((a, b) => (a.rendition?.number ?? 0) - (b.rendition?.number ?? 0));

/** A track of a list. Players must not choose commentaries by themselves. */
function listedRendition({ name, audio, rendition }: PackagedTrack, group: string, folder: string): string {
  if (!rendition) throw new Error(`The track ${name} is not in a list`);
  const { language, role, isDefault } = rendition;
  return tag("EXT-X-MEDIA", {
    TYPE: "AUDIO",
    "GROUP-ID": quoted(group),
    LANGUAGE: language === UNDETERMINED ? null : quoted(language),
    NAME: quoted(rendition.name),
    DEFAULT: isDefault ? "YES" : "NO",
    // The default must be selectable (RFC 8216 §4.3.4.1).
    AUTOSELECT: role === "commentary" && !isDefault ? "NO" : "YES",
    CHARACTERISTICS: role === "description" ? quoted("public.accessibility.describes-video") : null,
    CHANNELS: audio && quoted(String(audio.channels)),
    URI: quoted(uriOf(folder, mediaPlaylistFile(name))),
  });
}

/**
 * Players choose by language among renditions with AUTOSELECT. Each language should have such a rendition (RFC 8216
 * §4.3.4.1.1), and each may have several that differ in FORCED or CHARACTERISTICS. Forced text is shown by itself.
 */
function subtitleRendition(subtitles: readonly SubtitleTraits[], at: number, folder: string): string {
  const [track, name] = [subtitles[at], subtitlesName(segmentNumber(at))];
  if (!track) throw new Error(`No subtitles ${at}`);
  const alike = subtitles.filter((other) => autoselectKey(other) === autoselectKey(track));
  const chosen = alike.find((subtitle) => subtitle.default) ?? alike[0];
  const characteristics = [...(track.isCaptions ? ACCESSIBLE : []), ...(track.isAutomatic ? [AUTOMATIC] : [])];
  return tag("EXT-X-MEDIA", {
    TYPE: "SUBTITLES",
    "GROUP-ID": quoted(SUBTITLE_GROUP),
    LANGUAGE: quoted(track.language),
    NAME: quoted(track.name),
    DEFAULT: track.default ? "YES" : "NO",
    AUTOSELECT: track.isForced || track === chosen ? "YES" : "NO",
    FORCED: track.isForced ? "YES" : "NO",
    CHARACTERISTICS: characteristics.length === 0 ? null : quoted(characteristics.join(",")),
    URI: quoted(uriOf(folder, mediaPlaylistFile(name))),
  });
}

const autoselectKey = ({ language, isForced, isCaptions }: SubtitleTraits): string =>
  [language.toLowerCase(), isForced ?? false, isCaptions ?? false].join(" ");

/** Captions for deaf and hard of hearing viewers (Apple, HLS Authoring Specification §4.3). */
const ACCESSIBLE = ["public.accessibility.transcribes-spoken-dialog", "public.accessibility.describes-music-and-sound"];

/** AVFoundation's constant for text that a machine wrote (AVMediaCharacteristic.machineGenerated). */
const AUTOMATIC = "public.machine-generated";

/** The rates of a variant are the sums of its tracks. Text is not counted: it has a few hundred bits per second. */
function streamLines({ video, audio, group }: Variant, master: MasterPlaylist): string[] {
  const { folder, subtitles, target, growing } = master;
  const tracks = [video, audio].filter((track) => track !== null);
  const measured = growing?.measuredSegments;
  const choices = group === undefined || !audio ? [audio] : groupOf(group, master.tracks);
  const bandwidths = [[video], choices].map((all) =>
    distinct(all).map(({ segments, timescale }) => bandwidthOf(segments.slice(0, measured), timescale, target)),
  );
  // Players may combine the video with the largest audio of the group (RFC 8216 §4.3.4.2).
  const sum = (rate: (bandwidth: Bandwidth) => number): number =>
    bandwidths.reduce((total, all) => total + Math.max(0, ...all.map(rate)), 0);
  const file = mediaPlaylistFile((video ?? audio)?.name ?? "");
  return [
    tag("EXT-X-STREAM-INF", {
      BANDWIDTH: sum(({ peak }) => peak),
      "AVERAGE-BANDWIDTH": sum(({ average }) => average),
      SCORE: scoreOf(video, master),
      CODECS: quoted(tracks.map(({ codec }) => codec).join(",")),
      RESOLUTION: resolution(video),
      "VIDEO-RANGE": videoRange(video, master),
      "FRAME-RATE": video?.video ? rateOf(video.video.fps).fps.toFixed(3) : null,
      AUDIO: group === undefined ? video && audio && quoted(audio.name) : quoted(group),
      SUBTITLES: subtitles.length > 0 ? quoted(SUBTITLE_GROUP) : null,
      "CLOSED-CAPTIONS": captionsOf(video, master),
    }),
    uriOf(folder, file),
  ];
}

function keyframeStream(track: PackagedTrack, master: MasterPlaylist): string {
  const { folder, target } = master;
  const { peak, average } = bandwidthOf(keyframeSpans(track.segments), track.timescale, target);
  return tag("EXT-X-I-FRAME-STREAM-INF", {
    BANDWIDTH: peak,
    "AVERAGE-BANDWIDTH": average,
    SCORE: scoreOf(track, master),
    CODECS: quoted(track.codec),
    RESOLUTION: resolution(track),
    "VIDEO-RANGE": videoRange(track, master),
    URI: quoted(uriOf(folder, keyframePlaylistFile(track.name))),
  });
}

const resolution = (track: PackagedTrack | null): string | null =>
  track?.video ? `${track.video.width}x${track.video.height}` : null;

/** Players take a variant without this attribute for SDR, so it is needed only if another variant is HDR. */
function videoRange(track: PackagedTrack | null, { tracks }: MasterPlaylist): string | null {
  if (!track?.video || tracks.every(({ video }) => !video?.hdr)) return null;
  if (track.video.hdr === null) return "SDR";
  return track.video.hdr.transfer === "smpte2084" ? "PQ" : "HLG";
}

/** The first channel of CEA-608, which all television captions have. */
const CAPTIONS = tag("EXT-X-MEDIA", {
  TYPE: "CLOSED-CAPTIONS",
  "GROUP-ID": quoted("cc"),
  NAME: quoted("CC1"),
  "INSTREAM-ID": quoted("CC1"),
});

const hasCaptions = ({ tracks }: MasterPlaylist): boolean => tracks.some(({ video }) => video?.captions);

/** NONE must be the value of all variants or of none (RFC 8216 §4.3.4.2). */
function captionsOf(video: PackagedTrack | null, master: MasterPlaylist): string | null {
  if (!hasCaptions(master)) return "NONE";
  return video?.video?.captions ? quoted("cc") : null;
}
