// Prints the parameters of an output as in a request: the inverse of parsing, without defaults.

import { assertNever } from "../../errors.ts";
import { printFormat } from "../../format/print-format.ts";
import { publicUrl } from "../../job/metadata.ts";
import type { FrameSelection, HttpStreamOutput, ImageOutput, OutputSpec, VideoOutput } from "../../job/output-spec.ts";
import { printAudio } from "./audio-tracks.ts";
import { printBurn } from "./burn.ts";
import { DEFAULT_NAME } from "./httpstream-params.ts";
import { printLoudness } from "./loudness.ts";
import { printSubtitle, printSubtitles } from "./subtitles.ts";

type Params = Record<string, unknown>;

/** Returns the parameters. `defaultKey`: key of the output without the parameter. */
export function printOutput(spec: OutputSpec, defaultKey: string): Params {
  const { key, condition } = spec;
  return {
    ...(key === defaultKey ? {} : { key }),
    ...given({ if: condition }),
    ...printKind(spec),
  };
}

function printKind(spec: OutputSpec): Params {
  switch (spec.type) {
    case "video":
      return printVideo(spec);
    case "image":
      return printImage(spec);
    case "text":
      return { path: spec.path, ...printSubtitle(spec.text) };
    case "httpstream":
      return printStream(spec);
    default:
      return assertNever(spec);
  }
}

const printVideo = (spec: VideoOutput): Params => ({
  path: spec.path,
  ...(spec.offsetMs === 0 ? {} : { offset: seconds(spec.offsetMs) }),
  ...(spec.durationMs === null ? {} : { duration: seconds(spec.durationMs) }),
  ...printFilters(spec),
  ...given({ deinterlace: spec.deinterlace }),
  ...printCaptions(spec),
  ...(spec.loudness ? { loudness: printLoudness(spec.loudness) } : {}),
  ...(spec.audioTracks ? { audio: printAudio(spec.audioTracks, spec.container) } : {}),
  ...(spec.subtitles ? { subtitles: printSubtitles(spec.subtitles) } : {}),
  ...printBurn(spec.burn),
});

const printImage = (spec: ImageOutput): Params => ({
  path: spec.path,
  ...printSelection(spec.selection),
  ...(spec.sprite ? { sprite: { ...given({ limit: spec.sprite.limit }), columns: spec.sprite.columns } } : {}),
  ...(spec.vtt ? { vtt: { filename: spec.vtt.path.slice(spec.vtt.path.lastIndexOf("/") + 1) } } : {}),
  ...given({ square: spec.square, blur: spec.blur }),
  ...printBurn(spec.burn),
  ...printFilters(spec),
});

function printSelection(selection: FrameSelection): Params {
  switch (selection.by) {
    case "number":
      return selection.number === 1 ? {} : { number: selection.number };
    case "offsets":
      return { offsets: selection.offsetsMs.map(seconds) };
    case "interval":
      return { interval: selection.intervalMs === null ? 0 : seconds(selection.intervalMs) };
    case "scenes":
      return { scene: { number: selection.number, duration: seconds(selection.durationMs) } };
    default:
      return assertNever(selection);
  }
}

const printFilters = ({ fit, transpose, vflip, hflip, watermark }: VideoOutput | ImageOutput): Params => ({
  ...(fit === "pad" ? {} : { fit }),
  ...given({ transpose, vflip, hflip }),
  ...(watermark ? { watermark: withoutSecrets(watermark) } : {}),
});

const printStream = (spec: HttpStreamOutput): Params => ({
  ...(spec.hls ? { hls: { path: spec.hls.path, ...(spec.hls.muxed ? { version: 3 } : {}) } } : {}),
  ...(spec.dash ? { dash: { path: spec.dash.path, ...given({ hlsfmp4: spec.dash.hlsFmp4 }) } } : {}),
  ...(spec.dropsLargerVariants ? {} : { variants: spec.variants.map(printFormat) }),
  ...(spec.playlistName === DEFAULT_NAME ? {} : { playlist_name: spec.playlistName }),
  segment_duration: seconds(spec.segmentDurationMs),
  ...(spec.encryption ? { encryption: { key_uri: spec.encryption.keyUri } } : {}),
  ...(spec.subtitles.length > 0 ? { subtitles: printSubtitles(spec.subtitles) } : {}),
  ...given({ thumbnails: spec.thumbnails, live_playlist: spec.livePlaylist }),
  ...printCaptions(spec),
  ...(spec.loudness ? { loudness: printLoudness(spec.loudness) } : {}),
  ...(spec.audioTracks ? { audio: printAudio(spec.audioTracks, "mp4") } : {}),
  ...printBurn(spec.burn),
  ...(spec.dropsSimilarVariants ? { drop_similar_variants: true } : {}),
});

const printCaptions = ({ dropsCaptions }: VideoOutput | HttpStreamOutput): Params =>
  dropsCaptions ? { captions: "drop" } : {};

/**
 * Removes secrets from URLs. Jobs are stored with such URLs (worker/job/secrets/extra-urls.ts), and only these may be
 * printed.
 */
const withoutSecrets = <Linked extends { url: string }>(linked: Linked): Linked => ({
  ...linked,
  url: publicUrl(linked.url),
});

/** Removes parameters that are null or false. */
const given = (params: Params): Params =>
  Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null && value !== false));

/** Converts ms to seconds, without the rounding error of the opposite multiplication. */
const seconds = (ms: number): number => Number((ms / 1000).toPrecision(15));
