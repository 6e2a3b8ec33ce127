// What the planner cannot make yet. Whoever teaches it more takes the line away.
import type { Failure } from "../errors.ts";
import type { AudioTrackSpec, VideoTrackSpec } from "../format/format-spec.ts";
import type { ImageOutput, OutputSpec, VideoOutput } from "../output-spec.ts";

/** Why this version cannot make an output, in one plain sentence; null when it can. */
export function unsupported(spec: OutputSpec): Failure | null {
  const what = missing(spec);
  if (!what) return null;
  const message = `The output \`${spec.format}\` cannot be made: this version of the encoder has no ${what} yet.`;
  return { code: "encoder_not_available", message };
}

function missing(spec: OutputSpec): string | null {
  switch (spec.type) {
    case "video":
      return ofVideo(spec) ?? ofPicture(spec);
    case "image":
      return ofImage(spec) ?? ofPicture(spec);
    default:
      return "HTTP streams";
  }
}

function ofVideo(spec: VideoOutput): string | null {
  return first({
    [`${spec.container} files`]: spec.container !== "mp4",
    "option `frag`": spec.fragmented,
    "option `metadata=0`": !spec.keepsMetadata,
    "parameter `offset`": spec.offsetMs > 0,
    "parameter `deinterlace`": spec.deinterlace,
    ...(spec.video && ofVideoTrack(spec.video)),
    ...(spec.audio && ofAudioTrack(spec.audio)),
  });
}

const ofVideoTrack = ({ codec, rate, pixelFormat, profile, level, twoPass }: VideoTrackSpec): Gaps => ({
  [`${codec} video`]: codec !== "h264",
  "option `maxrate` beside a bitrate": "bitrateKbps" in rate && rate.maxrateKbps !== null,
  "option `pix_fmt`": pixelFormat !== null,
  "option `vprofile`": profile !== null,
  "option `level`": level !== null,
  "option `2pass`": twoPass,
});

const ofAudioTrack = ({ codec, channels }: AudioTrackSpec): Gaps => ({
  [`${codec} audio`]: codec !== "aac",
  "`multi` channels": channels === "multi",
});

function ofImage({ container, selection, blur, sprite, vtt }: ImageOutput): string | null {
  return first({
    [`${container} images`]: container !== "jpg",
    [`images by \`${selection.by}\``]: selection.by !== "number",
    "parameter `blur`": blur !== null,
    "parameter `sprite`": sprite !== null,
    "parameter `vtt`": vtt !== null,
  });
}

function ofPicture({ fit, transpose, vflip, hflip, watermark }: VideoOutput | ImageOutput): string | null {
  return first({
    "parameter `fit` with `crop`": fit !== "pad",
    "parameter `transpose`": transpose !== null,
    "parameter `vflip`": vflip,
    "parameter `hflip`": hflip,
    "parameter `watermark`": watermark !== null,
  });
}

type Gaps = Readonly<Record<string, boolean>>;

const first = (gaps: Gaps): string | null => Object.entries(gaps).find(([, isAsked]) => isAsked)?.[0] ?? null;
