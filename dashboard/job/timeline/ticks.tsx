// The times below an axis.
import { timecode } from "../../core/format.ts";
import { pixelsOf, type Scale, spanOf, ticksOf } from "./layout.ts";

/** Periods of fewer ms have marks of tenths of a second. */
const SHORT_PERIOD_MS = 8000;
/** The room that the last label needs, in pixels. */
const LABEL_WIDTH = 24;

type Props = {
  readonly scale: Scale;
  readonly zeroMs: number;
  /** The shortest distance between labels, in pixels. */
  readonly gap: number;
};

export function Ticks({ scale, zeroMs, gap }: Props) {
  const { fromMs, toMs, width } = scale;
  const digits = toMs - fromMs < SHORT_PERIOD_MS ? 1 : 0;
  return ticksOf(scale, zeroMs, gap).map((seconds) => {
    const atMs = zeroMs + seconds * 1000;
    if (pixelsOf(scale, fromMs, atMs) > width - LABEL_WIDTH) return null;
    return (
      <span key={seconds} class="tick" style={{ left: spanOf(scale, atMs, atMs).left }}>
        {timecode(seconds, digits)}
      </span>
    );
  });
}
