// What a DASH manifest offers players to choose from: sets of representations that they may switch between.
import type { StreamThumbnails } from "#shared/plan/streams/planned-stream.ts";
import { bandwidthOf } from "../bandwidth.ts";
import { rateOf } from "../frame-rates.ts";
import type { SubtitleTraits } from "../hls/hls-master-playlist.ts";
import {
  inStreamFolder,
  segmentNumber,
  subtitleFile,
  subtitlesName,
  THUMBNAIL_TEMPLATE,
  urlOf,
} from "../package-files.ts";
import type { PackagedTrack } from "../segment.ts";
import { areAligned, segmentTemplate } from "./dash-segments.ts";
import { element, type Lines, textElement } from "./xml.ts";

/** A text track that is stored as a whole. */
export type StoredSubtitles = SubtitleTraits & { readonly sizeBytes: number };

/** Sheets that are stored, with their sizes in their order. */
export type StoredThumbnails = Pick<StreamThumbnails, "sheet" | "everyMs"> & { readonly sizesBytes: readonly number[] };

/** The measured peak of bit rates goes by the package's target duration, in seconds. */
type Place = { readonly id: number; readonly folder: string; readonly target: number };
type Pictured = PackagedTrack & { readonly picture: NonNullable<PackagedTrack["picture"]> };
type Sounding = PackagedTrack & { readonly sound: NonNullable<PackagedTrack["sound"]> };

export const hasPicture = (track: PackagedTrack): track is Pictured => track.picture !== null;
export const hasSound = (track: PackagedTrack): track is Sounding => track.sound !== null;

/** Pictures of one codec. */
export function videoSet(tracks: readonly Pictured[], place: Place): Lines {
  const pictures = tracks.map(({ picture }) => picture).toSorted((a, b) => b.width * b.height - a.width * a.height);
  const fastest = rateOf(Math.max(...pictures.map(({ fps }) => fps)));
  const attributes = {
    ...{ contentType: "video", mimeType: "video/mp4" },
    par: pictures[0] ? aspect(pictures[0]) : null,
    maxWidth: Math.max(...pictures.map(({ width }) => width)),
    maxHeight: Math.max(...pictures.map(({ height }) => height)),
    maxFrameRate: fastest.fraction,
  };
  return mediaSet(attributes, tracks, place, ({ picture: { width, height, fps } }) => ({
    attributes: { width, height, sar: "1:1", frameRate: rateOf(fps).fraction },
    children: [],
  }));
}

/** Sound of one number of channels. */
export const audioSet = (tracks: readonly Sounding[], place: Place): Lines =>
  mediaSet({ contentType: "audio", mimeType: "audio/mp4" }, tracks, place, ({ sound }) => ({
    attributes: { audioSamplingRate: sound.sampleRateHz },
    children: [
      element("AudioChannelConfiguration", {
        schemeIdUri: "urn:mpeg:dash:23003:3:audio_channel_configuration:2011",
        value: channelConfiguration(sound.channels),
      }),
    ],
  }));

/** ChannelConfiguration of ISO 23001-8: up to 5.1 the number of channels, then 6.1, and 7.1 with a pair beside and one behind. */
const channelConfiguration = (channels: number): number => ({ 7: 11, 8: 12 })[channels] ?? channels;

type Representation = {
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly children: readonly Lines[];
};

/** Segments of all tracks begin with a frame that can be decoded by itself, and nothing after it needs one before. */
function mediaSet<Track extends PackagedTrack>(
  attributes: Readonly<Record<string, string | number | null>>,
  tracks: readonly Track[],
  { id, folder, target }: Place,
  traits: (track: Track) => Representation,
): Lines {
  const [first] = tracks;
  const aligned = areAligned(tracks);
  // Of a long film the times are most of the manifest, and the same for all of a ladder.
  const shared = aligned && first && tracks.every(({ timescale }) => timescale === first.timescale);
  const common = { id, ...attributes, segmentAlignment: aligned || null, startWithSAP: 1 };
  return element("AdaptationSet", common, [
    ...(shared ? [segmentTemplate(first, folder)] : []),
    ...tracks.map((track) => {
      const { attributes, children } = traits(track);
      const { peak } = bandwidthOf(track.segments, track.timescale, target);
      return element(
        "Representation",
        { id: track.name, codecs: track.codec, bandwidth: peak, ...attributes },
        shared ? children : [...children, segmentTemplate(track, folder)],
      );
    }),
  ]);
}

/** Text track number `at` (from 0), one file for a film of this length. */
export function subtitleSet(subtitles: StoredSubtitles, at: number, lastMs: number, { id, folder }: Place): Lines {
  const name = subtitlesName(segmentNumber(at));
  const bandwidth = bitsPerSecond(subtitles.sizeBytes, lastMs);
  return element("AdaptationSet", { id, lang: subtitles.language, contentType: "text", mimeType: "text/vtt" }, [
    textElement("Label", subtitles.name),
    ...["subtitle", ...(subtitles.default ? ["main"] : [])].map((value) =>
      element("Role", { schemeIdUri: "urn:mpeg:dash:role:2011", value }),
    ),
    element("Representation", { id: name, bandwidth }, [
      textElement("BaseURL", urlOf(inStreamFolder(folder, subtitleFile(name)))),
    ]),
  ]);
}

/** Sheets of pictures for the seek bar (DASH-IF IOP 4.3 §6.2.6). */
export function thumbnailSet({ sheet, everyMs, sizesBytes }: StoredThumbnails, { id, folder }: Place): Lines {
  const { columns, rows, cell } = sheet;
  const sheetMs = Math.round(columns * rows * everyMs);
  return element("AdaptationSet", { id, contentType: "image", mimeType: "image/jpeg" }, [
    element("SegmentTemplate", {
      timescale: 1000,
      duration: sheetMs,
      startNumber: segmentNumber(0),
      // Else players count sheets up to the film's end, where sound may go on a little longer than the pictures.
      endNumber: segmentNumber(sizesBytes.length - 1),
      media: inStreamFolder(folder, THUMBNAIL_TEMPLATE),
    }),
    element(
      "Representation",
      {
        id: "thumbnails",
        bandwidth: bitsPerSecond(Math.max(0, ...sizesBytes), sheetMs),
        width: columns * cell.width,
        height: rows * cell.height,
      },
      [
        element("EssentialProperty", {
          schemeIdUri: "http://dashif.org/guidelines/thumbnail_tile",
          value: `${columns}x${rows}`,
        }),
      ],
    ),
  ]);
}

const bitsPerSecond = (sizeBytes: number, ms: number): number =>
  Math.max(1, Math.ceil((sizeBytes * 8) / Math.max(0.001, ms / 1000)));

function aspect({ width, height }: { readonly width: number; readonly height: number }): string {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
  const common = divisor(width, height);
  return `${width / common}:${height / common}`;
}
