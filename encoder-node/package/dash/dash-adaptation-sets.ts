// The adaptation sets of a DASH manifest. Players may switch between the representations of a set.

import type { SubtitleTraits } from "#shared/job/subtitles.ts";
import type { ColorTags } from "#shared/plan/source/source-color.ts";
import type { AudioRendition, StreamThumbnails } from "#shared/plan/streams/planned-stream.ts";
import type { PackagedTrack } from "../../codecs/segment.ts";
import { bandwidthOf } from "../bandwidth.ts";
import { rateOf } from "../frame-rates.ts";
import {
  inStreamFolder,
  segmentNumber,
  subtitleFile,
  subtitlesName,
  THUMBNAIL_TEMPLATE,
  urlOf,
} from "../package-files.ts";
import { areAligned, segmentTemplate } from "./dash-segments.ts";
import { element, type Lines, textElement } from "./xml.ts";

/** A text track that is stored in a single file. */
export type StoredSubtitles = SubtitleTraits & { readonly sizeBytes: number };

/** Stored sprite sheets, with their sizes in order. */
export type StoredThumbnails = Pick<StreamThumbnails, "spriteSheet" | "everyMs"> & {
  readonly sizesBytes: readonly number[];
};

/**
 * `target`: the package's target duration in seconds, over which peak bit rates are measured. `measured`: the number of
 * first segments that are measured.
 */
type SetOptions = {
  readonly id: number;
  readonly folder: string;
  readonly target: number;
  readonly measured: number | undefined;
};
/** Elements about all tracks of a set. */
type WithProperties = SetOptions & { readonly properties?: readonly Lines[] };
type VideoTrack = PackagedTrack & { readonly video: NonNullable<PackagedTrack["video"]> };
type AudioTrack = PackagedTrack & { readonly audio: NonNullable<PackagedTrack["audio"]> };

export const hasVideo = (track: PackagedTrack): track is VideoTrack => track.video !== null;
export const hasAudio = (track: PackagedTrack): track is AudioTrack => track.audio !== null;

/** The video tracks with the same codec and color space. `priority`: players prefer the set with the highest. */
export function videoSet(
  tracks: readonly VideoTrack[],
  options: SetOptions & { readonly priority: number | null },
): Lines {
  const videos = tracks.map(({ video }) => video).toSorted((a, b) => b.width * b.height - a.width * a.height);
  const fastest = rateOf(Math.max(...videos.map(({ fps }) => fps)));
  const attributes = {
    contentType: "video",
    mimeType: "video/mp4",
    par: videos[0] ? aspect(videos[0]) : null,
    maxWidth: Math.max(...videos.map(({ width }) => width)),
    maxHeight: Math.max(...videos.map(({ height }) => height)),
    maxFrameRate: fastest.fraction,
    selectionPriority: options.priority,
  };
  const captions = videos.every((video) => video.captions) ? [CAPTIONS] : [];
  const properties = [...colorProperties(videos[0]?.hdr ?? null), ...captions];
  return mediaSet(attributes, tracks, { ...options, properties }, ({ video: { width, height, fps } }) => ({
    attributes: { width, height, sar: "1:1", frameRate: rateOf(fps).fraction },
    children: [],
  }));
}

/** Closed captions in the frames (SCTE 214-1 §7.2). */
const CAPTIONS = element("Accessibility", { schemeIdUri: "urn:scte:dash:cc:cea-608:2015" }, []);

/** Numbers of ISO/IEC 23091-2 by ffmpeg's names; 2 is "unspecified". */
const CODE_POINTS: Readonly<Record<keyof ColorTags, Readonly<Record<string, number>>>> = {
  primaries: { bt709: 1, bt470bg: 5, smpte170m: 6, smpte240m: 7, bt2020: 9, smpte431: 11, smpte432: 12 },
  transfer: { smpte2084: 16, "arib-std-b67": 18 },
  matrix: { bt709: 1, bt470bg: 5, smpte170m: 6, smpte240m: 7, bt2020nc: 9, bt2020c: 10, ictcp: 14 },
};

/** Players that do not know PQ must not show it. HLG looks acceptable without that knowledge (ITU-R BT.2390). */
function colorProperties(hdr: ColorTags | null): Lines[] {
  if (hdr === null) return [];
  const name = hdr.transfer === "smpte2084" ? "EssentialProperty" : "SupplementalProperty";
  const property = (scheme: string, kind: keyof ColorTags): Lines =>
    element(name, { schemeIdUri: `urn:mpeg:mpegB:cicp:${scheme}`, value: CODE_POINTS[kind][hdr[kind]] ?? 2 });
  return [
    property("ColourPrimaries", "primaries"),
    property("TransferCharacteristics", "transfer"),
    property("MatrixCoefficients", "matrix"),
  ];
}

/** The encodings of an audio track with the same number of channels. */
export function audioSet(tracks: readonly AudioTrack[], options: SetOptions): Lines {
  const { rendition, language } = tracks[0] ?? {};
  const attributes = { lang: rendition?.language ?? language ?? null, contentType: "audio", mimeType: "audio/mp4" };
  const properties = rendition ? renditionProperties(rendition) : [];
  return mediaSet(attributes, tracks, { ...options, properties }, ({ audio }) => ({
    attributes: { audioSamplingRate: audio.sampleRateHz },
    children: [
      element("AudioChannelConfiguration", {
        schemeIdUri: "urn:mpeg:dash:23003:3:audio_channel_configuration:2011",
        value: channelConfiguration(audio.channels),
      }),
    ],
  }));
}

/** Roles by ISO 23009-1 §5.8.5.5, purposes by ETSI TS 101 154 (1: visually impaired, 2: hard of hearing). */
function renditionProperties({ role, name }: AudioRendition): Lines[] {
  const purpose = { description: 1, clear: 2, main: null, dub: null, commentary: null }[role];
  return [
    textElement("Label", name),
    ...(purpose === null
      ? []
      : [element("Accessibility", { schemeIdUri: "urn:tva:metadata:cs:AudioPurposeCS:2007", value: purpose })]),
    element("Role", { schemeIdUri: "urn:mpeg:dash:role:2011", value: role === "clear" ? "alternate" : role }),
  ];
}

/**
 * ChannelConfiguration of ISO 23001-8: the number of channels up to 5.1, then 6.1, and 7.1 with side and rear pairs.
 */
const channelConfiguration = (channels: number): number => ({ 7: 11, 8: 12 })[channels] ?? channels;

type Representation = {
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly children: readonly Lines[];
};

/** `startWithSAP` is 1: every segment starts with a keyframe, and later frames do not refer to frames before it. */
function mediaSet<Track extends PackagedTrack>(
  attributes: Readonly<Record<string, string | number | null>>,
  tracks: readonly Track[],
  { id, folder, target, measured, properties = [] }: WithProperties,
  traits: (track: Track) => Representation,
): Lines {
  const [first] = tracks;
  const aligned = areAligned(tracks);
  // The times are most of a long video's manifest, and all tracks of a ladder share them.
  const shared = aligned && first && tracks.every(({ timescale }) => timescale === first.timescale);
  const common = { id, ...attributes, segmentAlignment: aligned || null, startWithSAP: 1 };
  return element("AdaptationSet", common, [
    ...properties,
    ...(shared ? [segmentTemplate(first, folder)] : []),
    ...tracks.map((track) => {
      const { attributes, children } = traits(track);
      const { peak } = bandwidthOf(track.segments.slice(0, measured), track.timescale, target);
      return element(
        "Representation",
        { id: track.name, codecs: track.codec, bandwidth: peak, ...attributes },
        shared ? children : [...children, segmentTemplate(track, folder)],
      );
    }),
  ]);
}

/** Text track number `at` (from 0) in a single file, for a stream that ends at `lastMs`. */
export function subtitleSet(subtitles: StoredSubtitles, at: number, lastMs: number, { id, folder }: SetOptions): Lines {
  const name = subtitlesName(segmentNumber(at));
  const bandwidth = bitsPerSecond(subtitles.sizeBytes, lastMs);
  return element("AdaptationSet", { id, lang: subtitles.language, contentType: "text", mimeType: "text/vtt" }, [
    textElement("Label", subtitles.name),
    ...rolesOf(subtitles).map((value) => element("Role", { schemeIdUri: "urn:mpeg:dash:role:2011", value })),
    element("Representation", { id: name, bandwidth }, [
      textElement("BaseURL", urlOf(inStreamFolder(folder, subtitleFile(name)))),
    ]),
  ]);
}

/** Values of ISO/IEC 23009-1 table 22. */
const rolesOf = (traits: SubtitleTraits): string[] => [
  traits.isForced ? "forced-subtitle" : traits.isCaptions ? "caption" : "subtitle",
  ...(traits.default ? ["main"] : []),
];

/** Sprite sheets of thumbnails for the seek bar (DASH-IF IOP 4.3 §6.2.6). */
export function thumbnailSet(
  { spriteSheet: sheet, everyMs, sizesBytes }: StoredThumbnails,
  { id, folder }: SetOptions,
): Lines {
  const { columns, rows, cell } = sheet;
  const sheetMs = Math.round(columns * rows * everyMs);
  return element("AdaptationSet", { id, contentType: "image", mimeType: "image/jpeg" }, [
    element("SegmentTemplate", {
      timescale: 1000,
      duration: sheetMs,
      startNumber: segmentNumber(0),
      // Without it, players expect sheets up to the end of the stream, and audio may be a little longer than video.
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
