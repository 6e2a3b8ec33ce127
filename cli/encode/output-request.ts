// Builds the `outputs` of a job from `--to`.
import { declarationsOf } from "#shared/parameters/parameter.ts";
import { ImageParams } from "#shared/request/outputs/image-params.ts";
import { TextParams } from "#shared/request/outputs/text-params.ts";
import { VideoParams } from "#shared/request/outputs/video-params.ts";
import { usageError } from "../exit.ts";

/** Names of parameters in `--to jpg:320x:number=5`. Other names belong to the format, such as `quality=4`. */
const PARAMETERS: ReadonlySet<string> = new Set(
  [VideoParams, ImageParams, TextParams].flatMap((params) =>
    [...declarationsOf(params)].flatMap(([name, { cli = true }]) => (cli ? [name] : [])),
  ),
);

const EXTENSIONS: Readonly<Record<string, string>> = {
  mpegts: "ts",
  asf: "wmv",
  webm: "webm",
  divx: "avi",
  xvid: "avi",
  wmv: "wmv",
  flash: "flv",
  theora: "ogv",
  jpeg: "jpg",
  webp_anim: "webp",
};
const IMAGES: ReadonlySet<string> = new Set(["jpg", "jpeg", "png", "webp", "gif", "webp_anim", "avif"]);
const ANIMATED: ReadonlySet<string> = new Set(["gif", "webp_anim"]);

type Output = Readonly<Record<string, unknown>>;

/** Presets that people name by purpose. All stream presets become a single output, so that they are encoded once. */
const STREAMS = {
  hls: (base: string) => ({ hls: { path: `${base}-hls` } }),
  "hls-fmp4": (base: string) => ({ hls: { path: `${base}-hls`, segments: "fmp4" } }),
  dash: (base: string) => ({ dash: { path: `${base}-dash` } }),
  cmaf: (base: string) => ({ dash: { path: `${base}-cmaf`, hlsfmp4: true } }),
} as const;
const isStream = (name: string): name is keyof typeof STREAMS => Object.hasOwn(STREAMS, name);

const IMAGE_PRESETS: Readonly<Record<string, { format: string; params: Output }>> = {
  thumbnails: { format: "jpg:320x", params: { number: 5 } },
  sprite: { format: "jpg:160x", params: { interval: 5, sprite: { columns: 10, limit: 100 }, vtt: true } },
};

/**
 * Options for the streams of `--to`: `--variant`, `--drop-similar-variants`, `--subtitles` and `--audio`. `--burn` and
 * `--overlay` are for all outputs.
 */
export type StreamOptions = {
  readonly variants: readonly string[];
  readonly dropsSimilar: boolean;
  readonly subtitles: readonly string[];
  readonly audio: readonly string[];
  /** A URL, or a subtitle track of the source. */
  readonly burn?: string | undefined;
  /** URLs of images, each with its place and width if given. */
  readonly overlays?: readonly string[];
};
const PLAIN: StreamOptions = { variants: [], dropsSimilar: false, subtitles: [], audio: [] };

/**
 * Returns the outputs for the values of `--to`. Paths start with `base`: `video-720p.mp4`, `video-hls/`. Throws a usage
 * error for a parameter without a value, and for stream options without a stream. The service checks the rest.
 */
export function outputsOf(
  formats: readonly string[],
  base: string,
  { variants, dropsSimilar, subtitles, audio, burn, overlays = [] }: StreamOptions = PLAIN,
): Record<string, unknown> {
  const streams = formats.filter(isStream);
  const files = formats.filter((text) => !isStream(text)).map((text) => fileOutput(text, base));
  const drawn = {
    ...(burn === undefined ? {} : { burn: /^https?:/.test(burn) ? { url: burn } : { from: parsedValue(burn) } }),
    ...(overlays.length > 0 ? { overlays: overlays.map(overlayOf) } : {}),
  };
  const outputs: Record<string, Output[]> = {};
  for (const { format, output } of withUniquePaths(files))
    outputs[format] = [...(outputs[format] ?? []), { ...output, ...drawn }];
  const params = {
    ...(variants.length > 0 ? { variants } : {}),
    ...(dropsSimilar ? { drop_similar_variants: true } : {}),
    ...(subtitles.length > 0 ? { subtitles: tracksOf(subtitles) } : {}),
    ...(audio.length > 0 ? { audio: tracksOf(audio) } : {}),
  };
  if (streams.length === 0 && Object.keys(params).length > 0) {
    const names = "--variant, --drop-similar-variants, --subtitles and --audio";
    throw usageError(`${names} are for streams: name one, such as --to hls`);
  }
  const stream = Object.assign(params, drawn, ...streams.map((name) => STREAMS[name](base)));
  return {
    ...Object.fromEntries(
      Object.entries(outputs).map(([format, list]) => [format, list.length === 1 ? list[0] : list]),
    ),
    ...(streams.length > 0 ? { httpstream: stream } : {}),
  };
}

/** `https://example.com/logo.png:topright:12`: the URL, the place, and the width in %. */
function overlayOf(text: string): unknown {
  const [, url, anchor, width] = /^(https?:.+?)(?::([a-z]+)(?::(\d+(?:\.\d+)?))?)?$/.exec(text) ?? [];
  if (url === undefined) throw usageError(`--overlay ${text}: it must start with the http or https URL of an image`);
  return { url, ...(anchor ? { anchor } : {}), ...(width ? { width: Number(width) } : {}) };
}

/** Tracks by number or language; `all`: each track of the source. */
const tracksOf = (tracks: readonly string[]): unknown =>
  tracks.includes("all") ? "all" : tracks.map((track) => ({ from: parsedValue(track) }));

type FileOutput = { readonly format: string; readonly output: Output & { readonly path: string } };

function fileOutput(text: string, base: string): FileOutput {
  const preset = Object.hasOwn(IMAGE_PRESETS, text) ? IMAGE_PRESETS[text] : undefined;
  const { format, params } = preset ?? splitFormat(text);
  const path = typeof params.path === "string" ? params.path : defaultPath(format, params, base);
  return { format, output: { ...params, path } };
}

/** Splits the text into the format and the parameters after its last colon. */
function splitFormat(text: string): { format: string; params: Output } {
  const at = text.lastIndexOf(":");
  const last = at < 0 ? "" : text.slice(at + 1);
  // A value may have `=`, such as `if=width>=1280`.
  const pairs = last.split(",").map((pair) => pair.split(/=(.*)/s, 2));
  const parameters = pairs.filter(([name = ""]) => PARAMETERS.has(name));
  if (parameters.length === 0) return { format: text, params: {} };
  const [wrong] = pairs.filter(([name = "", value]) => !PARAMETERS.has(name) || value === undefined || value === "");
  if (wrong) {
    throw usageError(`--to ${text}: \`${wrong.join("=")}\` is not a parameter with a value, such as number=5`);
  }
  return {
    format: text.slice(0, at),
    params: Object.fromEntries(
      pairs.map(([name = "", value = ""]) => [
        name,
        name === "audio" ? tracksOf(value.split("+")) : parsedValue(value),
      ]),
    ),
  };
}

function parsedValue(text: string): string | number | boolean {
  if (text === "true" || text === "false") return text === "true";
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

function defaultPath(format: string, params: Output, base: string): string {
  const [container = "", ...specs] = format.split(":");
  const detail = specs
    .filter((spec) => spec !== "" && spec !== "x")
    .join("-")
    .replaceAll(/[^A-Za-z0-9]+/g, "-");
  const name = detail === "" ? base : `${base}-${detail}`;
  const isList = IMAGES.has(container) && !ANIMATED.has(container) && ("number" in params || "interval" in params);
  return `${name}${isList ? "-%02d" : ""}.${EXTENSIONS[container] ?? container}`;
}

/** Numbers outputs with the same path: `video.mp4`, `video-2.mp4`. */
function withUniquePaths(files: readonly FileOutput[]): FileOutput[] {
  const seen = new Map<string, number>();
  return files.map(({ format, output }) => {
    const count = (seen.get(output.path) ?? 0) + 1;
    seen.set(output.path, count);
    if (count === 1) return { format, output };
    const dot = output.path.lastIndexOf(".");
    return { format, output: { ...output, path: `${output.path.slice(0, dot)}-${count}${output.path.slice(dot)}` } };
  });
}
