// Formats as people edit them: the specs of a text in their own spelling, changes of them, and the choices for each.
import { AUDIO_CHOICES, CHANNELS, VIDEO_CHOICES } from "./codecs.ts";
import { CONTAINERS_BY_NAME, isImageContainer } from "./containers.ts";
import { AUDIO_SPECS, type RequestedSpecs, type SpecName } from "./grammar/requested-specs.ts";
import { segmentsOf, specOf, specsIn, tokensOf } from "./grammar/segments.ts";
import { FRAME_RATES, PRESETS } from "./presets.ts";
import { containerOf, type FormatParts } from "./print-format.ts";
import { resolveFormat } from "./resolve-format.ts";

/** Reads the parts of any text. Leaves out tokens that are not valid. */
export function partsOf(format: string): FormatParts {
  const [name = "", ...segments] = format.split(":");
  const specs = segmentsOf(containerOf(name)).flatMap((kind, at) =>
    tokensOf(kind, segments[at] ?? "").flatMap((token) => {
      const spec = specOf(kind, token);
      return spec === null ? [] : [spec];
    }),
  );
  return { name, specs: new Map(specs) };
}

/** Sets specs, or removes them with undefined. Then removes other specs that are impossible with these. */
export function withSpecs(
  { name, specs }: FormatParts,
  changes: ReadonlyMap<SpecName, string | undefined>,
): FormatParts {
  const unchanged = [...specs].filter(([spec]) => !changes.has(spec));
  const set = [...changes].filter((change): change is [SpecName, string] => change[1] !== undefined);
  const changed = { name, specs: new Map([...unchanged, ...set]) };
  return {
    name,
    specs: possible(
      changed,
      set.map(([spec]) => spec),
    ),
  };
}

const resolve = ({ name, specs }: FormatParts) =>
  resolveFormat(() => ({ container: containerOf(name), requested: specs }));

const CODECS: readonly SpecName[] = ["video_codec", "audio_codec"];
const codecOf = (spec: SpecName): SpecName =>
  AUDIO_SPECS.some((audioSpec) => audioSpec === spec) ? "audio_codec" : "video_codec";

/** The specs that are possible with the container and with `kept`. A copied or disabled track gives way to its specs. */
function possible({ name, specs }: FormatParts, kept: readonly SpecName[]): RequestedSpecs {
  const resolved = resolve({ name, specs });
  if (resolved.ok) return specs;
  const { field } = resolved.error;
  const wrong =
    field === null ? CODECS.filter((codec) => !kept.includes(codec)) : [kept.includes(field) ? codecOf(field) : field];
  const left = new Map([...specs].filter(([spec]) => !wrong.includes(spec)));
  return left.size === specs.size ? specs : possible({ name, specs: left }, kept);
}

const KBPS = [12, 32, 64, 96, 128, 160, 192, 256, 320];
const CAPS = [400, 700, 1000, 1500, 2000, 3000, 4000, 6000, 8000, 12_000];
/** From good on small screens to visually equal to the source. */
const VMAFS = [80, 85, 90, 93, 95, 97];
const VALUES: Readonly<Partial<Record<SpecName, readonly string[]>>> = {
  resolution: [...PRESETS.keys()],
  video_codec: [...VIDEO_CHOICES, "x"],
  quality: ["1", "2", "3", "4", "5", ...VMAFS.map((vmaf) => `vmaf${vmaf}`)],
  video_bitrate: ["1000k", "2000k", "4000k", "8000k"],
  maxrate: CAPS.map((kbps) => `${kbps}k`),
  fps: [...FRAME_RATES.keys()].slice(1).map((rate) => `${rate}fps`),
  audio_codec: [...AUDIO_CHOICES, "x"],
  audio_bitrate: KBPS.map((kbps) => `${kbps}k`),
  audio_channel: CHANNELS,
};
const IMAGE_SIZES = ["160x", "320x", "480x", "640x", "1280x"];

/** Values to choose for each spec, except the default; none for unknown containers. */
export function choices({ name, specs }: FormatParts): ReadonlyMap<SpecName, readonly string[]> {
  if (!CONTAINERS_BY_NAME.has(name.toLowerCase())) return new Map();
  const container = containerOf(name);
  const isPossible = (spec: SpecName, value: string): boolean => {
    const changed = { name, specs: new Map([...specs, [spec, value]]) };
    const resolved = resolve(changed);
    return resolved.ok || (resolved.error.field !== spec && resolve({ name, specs: possible(changed, [spec]) }).ok);
  };
  const ofContainer = segmentsOf(container).flatMap(specsIn);
  return new Map(
    ofContainer.map((spec) => {
      const values = spec === "resolution" && isImageContainer(container) ? IMAGE_SIZES : (VALUES[spec] ?? []);
      return [spec, values.filter((value) => isPossible(spec, value))];
    }),
  );
}
