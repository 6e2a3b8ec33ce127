// The bars of a strip that shows the VMAF of a video from its start to its end. Pure.
import type { MeasuredRendition } from "../../../client/index.ts";

type Series = NonNullable<MeasuredRendition["series"]>;

/** Levels choose colors only: the figures and the heights of bars show the same. */
export type Level = "good" | "fair" | "poor";

export type Bar = {
  /** Start in the video, in seconds. */
  readonly from: number;
  readonly to: number;
  /** The least VMAF of its intervals; null if nothing was measured. */
  readonly vmaf: number | null;
};

/** This number of bars leaves two pixels for each bar on a phone. */
const MOST_BARS = 150;
/** The usual target for the best rendition; most viewers see artifacts below the lower value. */
const GOOD = 93;
const FAIR = 80;

export const levelOf = (vmaf: number): Level => (vmaf >= GOOD ? "good" : vmaf >= FAIR ? "fair" : "poor");

/**
 * A bar for each interval. In a long video a bar shows the worst of several intervals, so that no bad interval is
 * hidden.
 */
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
