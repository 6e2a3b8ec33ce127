// The format grammar of output specifications (api-v2 §4): `container[:video[:audio[:options]]]`, `container[:size]`.
import type {
  AudioTrackSpec,
  FrameSize,
  ImageContainer,
  RateTarget,
  VideoContainer,
  VideoTrackSpec,
} from "../output-spec.ts";

export type FormatSpec =
  | { kind: "video"; container: VideoContainer; video: VideoTrackSpec | null; audio: AudioTrackSpec | null }
  | { kind: "image"; container: ImageContainer; size: FrameSize };

export type FormatResult = { ok: true; spec: FormatSpec } | { ok: false; message: string };

type Preset = { size: FrameSize; bitrateKbps: number };

/** Preset names: size and default bitrate. A width makes the size a box into which the picture is fitted (api-v2 §4). */
const PRESETS: ReadonlyMap<string, Preset> = new Map(
  Object.entries({
    "240p": { size: { width: null, height: 240 }, bitrateKbps: 500 },
    "360p": { size: { width: null, height: 360 }, bitrateKbps: 800 },
    "480p": { size: { width: null, height: 480 }, bitrateKbps: 1000 },
    "540p": { size: { width: null, height: 540 }, bitrateKbps: 1000 },
    "576p": { size: { width: null, height: 576 }, bitrateKbps: 1000 },
    "720p": { size: { width: 1280, height: 720 }, bitrateKbps: 2000 },
    "1080p": { size: { width: 1920, height: 1080 }, bitrateKbps: 4000 },
    "1440p": { size: { width: 2560, height: 1440 }, bitrateKbps: 6000 },
    "2160p": { size: { width: 3840, height: 2160 }, bitrateKbps: 8000 },
  }),
);

/** Frame rates of the grammar and the exact fraction each stands for; `0fps` is the source's own. */
const FRAME_RATES: ReadonlyMap<string, string | null> = new Map(
  Object.entries({
    "0": null,
    "15": "15",
    "23.98": "24000/1001",
    "24": "24",
    "25": "25",
    "29.97": "30000/1001",
    "30": "30",
    "50": "50",
    "60": "60",
  }),
);

const SAMPLE_RATES_HZ = [8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000];
const CONTAINERS: ReadonlyMap<string, VideoContainer | ImageContainer> = new Map(
  Object.entries({ mp4: "mp4", jpg: "jpg", jpeg: "jpg" } as const),
);

/** Largest frame side: what H.264 level 6.2 and the service's memory limits allow. */
const MAX_SIDE = 8192;
const MAX_VIDEO_KBPS = 199_999;
const MAX_AUDIO_KBPS = 512;
const DEFAULT_AUDIO_KBPS = 128;
const AUTOMATIC: FrameSize = { width: null, height: null };

class FormatError extends Error {}

/** Parses an output specification; everything in it must be understood. */
export function parseFormat(text: string): FormatResult {
  try {
    return { ok: true, spec: parse(text) };
  } catch (error) {
    if (error instanceof FormatError) return { ok: false, message: error.message };
    throw error;
  }
}

function parse(text: string): FormatSpec {
  const [containerName = "", ...segments] = text.toLowerCase().split(":");
  const container = CONTAINERS.get(containerName);
  if (!container) throw unknown("container", containerName, "mp4, jpg and, as an output of its own shape, httpstream");
  if (container === "jpg") {
    refuseRest(segments.slice(1), "An image format has a size only, as in `jpg:300x200`");
    return { kind: "image", container, size: parseImageSize(segments[0] ?? "") };
  }
  refuseRest(segments.slice(3), "A video format has at most three segments after the container: video, audio, options");
  const [video = "", audio = "", options = ""] = segments;
  const rate = parseOptions(options);
  const spec: FormatSpec = { kind: "video", container, video: parseVideo(video, rate), audio: parseAudio(audio) };
  if (!spec.video && !spec.audio) throw new FormatError(`\`${text}\` switches off both video and audio`);
  return spec;
}

function parseImageSize(segment: string): FrameSize {
  if (segment === "") return AUTOMATIC;
  return PRESETS.get(segment)?.size ?? parseSize(segment) ?? fail("image size", segment, SIZE_HINT);
}

function parseVideo(segment: string, quality: RateTarget | null): VideoTrackSpec | null {
  if (segment === "x" || segment === "novideo") return null;
  const track: VideoTrackSpec = { codec: "h264", size: AUTOMATIC, rate: null, fps: null };
  const once = onlyOnce("video");
  for (const token of tokens(segment)) {
    const preset = PRESETS.get(token);
    const size = parseSize(token);
    const fps = /^([\d.]+)fps$/.exec(token)?.[1];
    if (preset) {
      once("size", token);
      track.size = preset.size;
      track.rate ??= { bitrateKbps: preset.bitrateKbps };
    } else if (size) {
      once("size", token);
      track.size = size;
    } else if (/^\d+k$/.test(token)) {
      once("bitrate", token);
      track.rate = { bitrateKbps: kbps(token, MAX_VIDEO_KBPS) };
    } else if (fps !== undefined) {
      once("frame rate", token);
      const fraction = FRAME_RATES.get(fps);
      if (fraction === undefined) throw unknown("frame rate", token, `${[...FRAME_RATES.keys()].join(", ")} and fps`);
      track.fps = fraction;
    } else if (token === "h264") {
      once("codec", token);
    } else {
      throw unknown("video specification", token, VIDEO_HINT);
    }
  }
  return quality ? { ...track, rate: quality } : track;
}

function parseAudio(segment: string): AudioTrackSpec | null {
  if (segment === "x" || segment === "noaudio") return null;
  const track: AudioTrackSpec = { codec: "aac", bitrateKbps: DEFAULT_AUDIO_KBPS, sampleRateHz: null, channels: null };
  const once = onlyOnce("audio");
  for (const token of tokens(segment)) {
    const hz = /^(\d+)hz$/.exec(token)?.[1];
    if (/^\d+k$/.test(token)) {
      once("bitrate", token);
      track.bitrateKbps = kbps(token, MAX_AUDIO_KBPS);
    } else if (hz !== undefined) {
      once("sample rate", token);
      if (!SAMPLE_RATES_HZ.includes(Number(hz))) {
        throw unknown("sample rate", token, `${SAMPLE_RATES_HZ.join(", ")} and hz`);
      }
      track.sampleRateHz = Number(hz);
    } else if (token === "mono" || token === "stereo") {
      once("channels", token);
      track.channels = token;
    } else if (token === "aac") {
      once("codec", token);
    } else {
      throw unknown("audio specification", token, AUDIO_HINT);
    }
  }
  return track;
}

function parseOptions(segment: string): RateTarget | null {
  let quality: number | null = null;
  let maxrateKbps: number | null = null;
  const once = onlyOnce("options");
  for (const token of segment.split(/[,_]/).filter((part) => part !== "")) {
    const [, name, value] = /^(\w+)=(\w+)$/.exec(token) ?? [];
    if (name === "quality" && /^[1-5]$/.test(value ?? "")) {
      once(name, token);
      quality = Number(value);
    } else if (name === "maxrate" && /^\d+k$/.test(value ?? "")) {
      once(name, token);
      maxrateKbps = kbps(value ?? "", MAX_VIDEO_KBPS);
    } else {
      throw unknown("option", token, "quality=1 to quality=5 and, with it, maxrate=<n>k");
    }
  }
  if (quality === null && maxrateKbps !== null) throw new FormatError("The option `maxrate` needs `quality` beside it");
  return quality === null ? null : { quality, maxrateKbps };
}

/** `WxH`, with 0 or nothing for an automatic side; null when the text has another shape. */
function parseSize(token: string): FrameSize | null {
  const match = /^(\d*)x(\d*)$/.exec(token);
  if (!match || token === "x") return null;
  const side = (digits: string | undefined): number | null => {
    const pixels = Number(digits ?? 0);
    if (pixels > MAX_SIDE)
      throw new FormatError(`The size \`${token}\` is too large: a side has at most ${MAX_SIDE} pixels`);
    return pixels === 0 ? null : pixels;
  };
  return { width: side(match[1]), height: side(match[2]) };
}

function kbps(token: string, max: number): number {
  const value = Number(token.slice(0, -1));
  if (value < 1 || value > max) throw new FormatError(`The bitrate \`${token}\` is out of range: 1k to ${max}k`);
  return value;
}

/** Refuses a second token of the same meaning in one segment. */
function onlyOnce(segment: string): (what: string, token: string) => void {
  const seen = new Set<string>();
  return (what, token) => {
    if (seen.has(what)) throw new FormatError(`\`${token}\` gives the ${what} of the ${segment} segment a second time`);
    seen.add(what);
  };
}

const SIZE_HINT = `${[...PRESETS.keys()].join(", ")} or <width>x<height>`;
const VIDEO_HINT = `${SIZE_HINT}, <n>k, <n>fps, h264, or x for no video`;
const AUDIO_HINT = "<n>k, <n>hz, mono, stereo, aac, or x for no audio";

const tokens = (segment: string): string[] => segment.split("_").filter((token) => token !== "");
const unknown = (what: string, token: string, allowed: string): FormatError =>
  new FormatError(`Unknown ${what} \`${token}\`; allowed: ${allowed}`);

function fail(what: string, token: string, allowed: string): never {
  throw unknown(what, token, allowed);
}

function refuseRest(rest: readonly string[], message: string): void {
  if (rest.some((segment) => segment !== "")) throw new FormatError(`${message}; \`${rest.join(":")}\` is left over`);
}
