// The bars of a strip that shows the VMAF of a video from its start to its end. Pure.
import type { MeasuredRendition } from "../../../client/index.ts";

type Series = NonNullable<MeasuredRendition["series"]>;

/** For colors only: figures and heights have the same. */
export type Level = "good" | "fair" | "poor";

export type Bar = {
  /** Where it begins and ends in the video, in seconds. */
  readonly from: number;
  readonly to: number;
  /** The least VMAF of its intervals; null where nothing was measured. */
  readonly vmaf: number | null;
};

/** As many bars are as wide as two pixels on a phone. */
const MOST_BARS = 150;
/** The usual aim of the best rendition, and a value below which most viewers see artifacts. */
const GOOD = 93;
const FAIR = 80;

export const levelOf = (vmaf: number): Level => (vmaf >= GOOD ? "good" : vmaf >= FAIR ? "fair" : "poor");

/** A position in the video, such as `1:05`. */
export function positionOf(seconds: number): string {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** One bar for each interval, or for several of a long video: the worst of them counts, so that none is hidden. */
export function barsOf({ interval_seconds, vmaf }: Pick<Series, "interval_seconds" | "vmaf">, most = MOST_BARS): Bar[] {
  const each = Math.max(1, Math.ceil(vmaf.length / most));
  return Array.from({ length: Math.ceil(vmaf.length / each) }, (_, at) => {
    const part = vmaf.slice(at * each, (at + 1) * each);
    const measured = part.filter((value) => value !== null);
    return {
      from: at * each * interval_seconds,
      to: (at * each + part.length) * interval_seconds,
      vmaf: measured.length === 0 ? null : Math.min(...measured),
    };
  });
}

/** The bar with the least VMAF; undefined if nothing was measured. */
export const worstOf = (bars: readonly Bar[]): (Bar & { readonly vmaf: number }) | undefined =>
  bars
    .flatMap((bar) => (bar.vmaf === null ? [] : [{ ...bar, vmaf: bar.vmaf }]))
    .reduce<(Bar & { readonly vmaf: number }) | undefined>(
      (worst, bar) => (worst === undefined || bar.vmaf < worst.vmaf ? bar : worst),
      undefined,
    );
