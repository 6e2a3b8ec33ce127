// Prints the text of a format: from its parts, or canonically from a parsed format, which `parseFormat` parses to the
// same format.
import { CONTAINERS_BY_NAME, type Container, TRACK_CONTAINER_TRAITS, type TrackContainer } from "./containers.ts";
import type { AudioTrackSpec, FormatSpec, FrameSize, VideoTrackSpec } from "./format-spec.ts";
import type { RequestedSpecs, SpecName } from "./grammar/requested-specs.ts";
import { segmentsOf, specsIn, tokenOf } from "./grammar/segments.ts";
import { FRAME_RATES } from "./presets.ts";
import { defaultAudioCodec, defaultAudioKbps } from "./resolve-audio.ts";

/** `name`: the container as the text spells it. */
export type FormatParts = { readonly name: string; readonly specs: RequestedSpecs };

/** The container of a name; `mp4` for unknown names. */
export const containerOf = (name: string): Container => CONTAINERS_BY_NAME.get(name.toLowerCase()) ?? "mp4";

/** Prints the specs that belong to the container. */
export function printParts({ name, specs }: FormatParts): string {
  const segments = segmentsOf(containerOf(name)).map((kind) =>
    specsIn(kind)
      .flatMap((spec) => {
        const value = specs.get(spec);
        return value === undefined ? [] : tokenOf(spec, value);
      })
      .join(kind === "options" ? "," : "_"),
  );
  return [name, ...segments].join(":").replace(/(?<!:):+$/, "");
}

/**
 * Prints only differences from the container's defaults, with sizes and bitrates as numbers: `avi:240p` becomes
 * `avi:0x240_500k`.
 */
export function printFormat(format: FormatSpec): string {
  const specs = specsOf(format).filter((spec): spec is [SpecName, string] => typeof spec[1] === "string");
  return printParts({ name: format.container, specs: new Map(specs) });
}

/** Specs that differ from the defaults are texts. */
type Specs = readonly (readonly [SpecName, string | false | null | undefined])[];

function specsOf(format: FormatSpec): Specs {
  if (format.type === "text") return [];
  if (format.type === "image") {
    return [
      ["resolution", sizeText(format.size)],
      ["quality", format.quality?.toString()],
    ];
  }
  const { container, video, audio, keepsMetadata, fragmented } = format;
  return [
    ...(video ? videoSpecs(container, video) : ([["video_codec", "x"]] as const)),
    ...(audio ? audioSpecs(container, video, audio) : ([["audio_codec", "x"]] as const)),
    ["metadata", !keepsMetadata && "0"],
    ["frag", fragmented && "1"],
  ];
}

function videoSpecs(container: TrackContainer, { size, rate, codec, fps, ...video }: VideoTrackSpec): Specs {
  return [
    ["resolution", sizeText(size)],
    ["video_bitrate", "bitrateKbps" in rate && kbps(rate.bitrateKbps)],
    ["video_codec", codec !== TRACK_CONTAINER_TRAITS[container].video[0] && codec],
    ["fps", fps && `${[...FRAME_RATES].find(([, fraction]) => fraction === fps)?.[0]}fps`],
    ["quality", "quality" in rate ? `${rate.quality}` : "vmaf" in rate && `vmaf${rate.vmaf}`],
    ["maxrate", kbps(rate.maxrateKbps)],
    ["pix_fmt", video.pixelFormat],
    ["2pass", video.twoPass && "1"],
    ["vprofile", video.profile],
    ["level", video.level?.toString()],
  ];
}

function audioSpecs(
  container: TrackContainer,
  video: VideoTrackSpec | null,
  { codec, bitrateKbps, sampleRateHz, channels }: AudioTrackSpec,
): Specs {
  return [
    ["audio_codec", codec !== defaultAudioCodec(container, video?.codec ?? null) && codec],
    ["audio_bitrate", codec !== "copy" && bitrateKbps !== defaultAudioKbps(container, codec) && kbps(bitrateKbps)],
    ["sample_rate", sampleRateHz === null ? null : `${sampleRateHz}hz`],
    ["audio_channel", channels],
  ];
}

const kbps = (value: number | null): string | null => (value === null ? null : `${value}k`);
const sizeText = ({ width, height }: FrameSize): string | null =>
  width === null && height === null ? null : `${width ?? 0}x${height ?? 0}`;
