// A bar of the timeline.
import { memo } from "preact/compat";
import { percent } from "../../../core/format.ts";
import { type Bar, type BarPart, nameOf } from "../bars.ts";
import { type Scale, xOf } from "../layout.ts";
import { roundedPath } from "./geometry.ts";
import { ENDINGS, lookOf } from "./looks.ts";

type Props = {
  readonly bar: Bar;
  readonly y: number;
  readonly height: number;
  readonly scale: Scale;
  /** The end of the bar; the present for a running attempt. */
  readonly endMs: number;
  /** The estimated end of a running attempt; null: unknown. */
  readonly expectedMs: number | null;
  readonly isSelected: boolean;
  /** True while another attempt at the same work is selected. */
  readonly isRelated: boolean;
};

const RADIUS = 3.5;
/** Narrower bars would be invisible. */
const MIN_WIDTH = 2;
/** Width of a character of a label, in pixels. */
const CHARACTER = 7;

/** Drawn again only when a property changes, because there may be a thousand bars. */
export const BarShape = memo(function BarShape(props: Props) {
  const { bar, y, height, scale, endMs, expectedMs, isSelected, isRelated } = props;
  const x = xOf(scale, bar.fromMs);
  const end = Math.max(x + MIN_WIDTH, xOf(scale, endMs));
  const width = end - x;
  if (end < -50 || x > scale.width + 50) return null;
  const classes = ["bar", bar.state, bar.isSpeculative && "speculative", bar.isEarlier && "earlier"];
  if (isSelected) classes.push("selected");
  if (isRelated) classes.push("related");
  const outline = roundedPath(x, y, width, height, RADIUS, RADIUS);
  const expected = expectedMs === null ? end : xOf(scale, expectedMs);
  return (
    <g class={classes.filter(Boolean).join(" ")} data-key={bar.key} data-state={bar.state} data-progress={bar.progress}>
      {expected - end > 1 && (
        <path class="expected" d={roundedPath(end - RADIUS, y + 2, expected - end + RADIUS, height - 4, 0, RADIUS)} />
      )}
      <Parts bar={bar} y={y} height={height} scale={scale} x={x} end={end} />
      {bar.state !== "running" && bar.state !== "completed" && <path class="ending" d={outline} />}
      <path class="outline" d={outline} />
      {bar.state === "running" && <rect class="edge" x={end - 2} y={y} width={2} height={height} />}
      <Label bar={bar} scale={scale} x={x} end={end} y={y} height={height} />
    </g>
  );
});

type PartsProps = Pick<Props, "bar" | "y" | "height" | "scale"> & { readonly x: number; readonly end: number };

/** The stages of the attempt, from left to right. */
function Parts({ bar, y, height, scale, x, end }: PartsProps) {
  const parts: readonly (BarPart | undefined)[] = bar.parts.length > 0 ? bar.parts : [undefined];
  return (
    <>
      {parts.map((part, at) => {
        const from = Math.max(x, at === 0 || !part ? x : xOf(scale, part.fromMs));
        const to = Math.min(end, part?.toMs === null || !part || at === parts.length - 1 ? end : xOf(scale, part.toMs));
        if (to - from <= 0) return null;
        const look = lookOf(bar, part);
        const d = roundedPath(from, y, to - from, height, from === x ? RADIUS : 0, to === end ? RADIUS : 0);
        return (
          <g key={at} class={look}>
            <path class="fill" d={d} />
            {look !== "encoding" && to - from > 3 && <path class="texture" d={d} />}
          </g>
        );
      })}
    </>
  );
}

/** The longest name that fits, with a sign if the attempt ended badly. */
function Label({ bar, scale, x, end, y, height }: PartsProps) {
  if (height < 12) return null;
  // An attempt that started before the visible period has its label at the edge. Other labels are at the start of the
  // main work.
  const main = bar.parts.find(({ stage }) => stage === "encoding")?.fromMs;
  const starts = [main === undefined ? x : Math.max(x, xOf(scale, main)), x].map((start) => Math.max(start, 0) + 5);
  const texts = labelsOf(bar);
  for (const text of texts) {
    const left = starts.find((start) => start + text.length * CHARACTER + 3 <= end);
    if (left === undefined) continue;
    return (
      <text x={left} y={y + height / 2} dominant-baseline="central">
        {text}
      </text>
    );
  }
  return null;
}

/** The possible labels, the longest first. */
function labelsOf(bar: Bar): string[] {
  const sign = bar.state === "running" || bar.state === "completed" ? "" : ENDINGS[bar.state].sign;
  const name = `${bar.isSpeculative ? "2nd " : ""}${nameOf(bar)}`;
  const short = bar.chunk ? String(bar.chunk.number) : "";
  const isEncoding = bar.state === "running" && bar.parts.at(-1)?.stage === "encoding" && bar.progress > 0;
  const texts = [
    ...(isEncoding ? [`${name} · ${percent(bar.progress)}`] : []),
    ...(sign === "" ? [name, short] : [`${sign} ${name}`, `${sign} ${short}`, sign]),
  ];
  return texts.filter((text) => text.trim() !== "");
}
