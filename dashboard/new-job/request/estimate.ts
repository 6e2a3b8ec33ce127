// Estimates of the sizes of a plan's outputs.
import type { DryRunPlan } from "../../../client/index.ts";
import { type BitrateCodec, defaultBitrateKbps } from "../../../shared/plan/encoders/bitrates.ts";
import { isObject, valueAt } from "./edit.ts";

type PlannedOutput = DryRunPlan["outputs"][number];
type Source = DryRunPlan["assumed_source"];

export type Estimate = {
  readonly bytes: number;
  /** `exact`: from a mean bitrate; `most`: from a maximum; `rough`: from the quality. */
  readonly by: "exact" | "most" | "rough";
};

const numberAt = (value: unknown, ...path: string[]): number | null => {
  const found = valueAt(value, path);
  return typeof found === "number" ? found : null;
};

/** Length of an output in seconds: its part of the source. */
function secondsOf(spec: unknown, source: Source): number {
  const rest = Math.max(0, source.duration - (numberAt(spec, "offset_ms") ?? 0) / 1000);
  const asked = numberAt(spec, "duration_ms");
  return asked === null ? rest : Math.min(rest, asked / 1000);
}

/** Bitrates of quality steps as multiples of the default bitrate: about a factor of two for two steps. */
const QUALITY = [1, 0.4, 0.55, 0.75, 1, 1.5];

type Rate = { readonly kbps: number; readonly by: Estimate["by"] };

function videoRate(video: unknown, size: { readonly width: number; readonly height: number }): Rate {
  const mean = numberAt(video, "rate", "bitrate_kbps");
  if (mean !== null) return { kbps: mean, by: "exact" };
  const most = numberAt(video, "rate", "maxrate_kbps");
  const codec = valueAt(video, ["codec"]);
  const standard = defaultBitrateKbps((isBitrateCodec(codec) ? codec : "h264") as BitrateCodec, size);
  const step = numberAt(video, "rate", "quality");
  const vmaf = numberAt(video, "rate", "vmaf");
  const rough = standard * (step === null ? 1 : (QUALITY[step] ?? 1));
  if (most !== null && most <= rough) return { kbps: most, by: "most" };
  return { kbps: rough, by: step === null && vmaf === null ? "exact" : "rough" };
}

const isBitrateCodec = (codec: unknown): boolean =>
  typeof codec === "string" && !["copy", "prores", "prores-ks", "dnxhd"].includes(codec);

/** The frame size of an output without padding. The source gives the dimensions that the format leaves open. */
function sizeOf(video: unknown, source: Source): { width: number; height: number } {
  const isTurned = source.rotation === 90 || source.rotation === 270;
  const [w, h] = isTurned ? [source.height, source.width] : [source.width, source.height];
  const width = numberAt(video, "size", "width");
  const height = numberAt(video, "size", "height");
  if (width !== null && height !== null) return { width, height };
  if (height !== null) return { width: (height * w) / h, height };
  if (width !== null) return { width, height: (width * h) / w };
  return { width: w, height: h };
}

/** The estimate of an output; null for small images, and for outputs that the plan does not make. */
export function estimateOf(output: PlannedOutput, plan: DryRunPlan): Estimate | null {
  const { refusals: failures } = plan;
  const isRefused = failures.some(({ key }) => key === output.key);
  if (output.skipped || isRefused || output.type === "image") return null;
  const source = plan.assumed_source;
  return output.type === "httpstream" ? streamEstimate(output, source) : fileEstimate(output.spec, source);
}

function fileEstimate(spec: unknown, source: Source): Estimate {
  const seconds = secondsOf(spec, source);
  const video = valueAt(spec, ["video"]);
  const audioKbps = source.audio ? (numberAt(spec, "audio", "bitrate_kbps") ?? 0) : 0;
  if (!isObject(video)) return { bytes: bytesOf(audioKbps, seconds), by: "exact" };
  const rate = videoRate(video, sizeOf(video, source));
  return { bytes: bytesOf(rate.kbps + audioKbps, seconds), by: rate.by };
}

const bytesOf = (kbps: number, seconds: number): number => (kbps * 1000 * seconds) / 8;

/** The estimates of a stream's variants, in the order of the request; null for variants that the plan leaves out. */
export function variantEstimates({ spec, renditions = [] }: PlannedOutput, source: Source): (Estimate | null)[] {
  const variants = valueAt(spec, ["variants"]);
  const packages = (["hls", "dash"] as const).filter((name) => valueAt(spec, [name]) != null).length || 1;
  return (Array.isArray(variants) ? variants : []).map((format) => {
    const video = valueAt(format, ["video"]);
    const frame = renditions.find((one) => (one.video === null) === (video === null) && isNear(format, one));
    if (frame === undefined) return null;
    const { width, height } = frame;
    const size = width === undefined || height === undefined ? null : { width, height };
    const rate = size === null ? { kbps: 0, by: "exact" as const } : videoRate(video, size);
    const audioKbps = size === null || source.audio ? (numberAt(format, "audio", "bitrate_kbps") ?? 0) : 0;
    const bytes = bytesOf(rate.kbps + audioKbps, source.duration) * packages;
    return { bytes, by: rate.by };
  });
}

function streamEstimate(output: PlannedOutput, source: Source): Estimate {
  const estimates = variantEstimates(output, source).flatMap((one) => one ?? []);
  const by = estimates.some((one) => one.by === "rough")
    ? "rough"
    : estimates.some((one) => one.by === "most")
      ? "most"
      : "exact";
  return { bytes: estimates.reduce((sum, one) => sum + one.bytes, 0), by };
}

/** True if a rendition fills a side of its format, or has the source's size. */
function isNear(format: unknown, { width, height }: Partial<Record<"width" | "height", number | undefined>>): boolean {
  if (width === undefined || height === undefined) return true;
  const box = {
    width: numberAt(format, "video", "size", "width"),
    height: numberAt(format, "video", "size", "height"),
  };
  if (box.height === null && box.width === null) return true;
  const lines = Math.min(width, height);
  const isAt = (wanted: number | null, found: number): boolean => wanted !== null && Math.abs(wanted - found) <= 2;
  const isSame = isAt(box.height, height) || isAt(box.width, width);
  return isSame || (box.height !== null && Math.abs(box.height - lines) <= box.height * 0.06);
}
