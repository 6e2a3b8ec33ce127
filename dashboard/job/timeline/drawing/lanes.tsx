// The lanes of the timeline with their bars.
import type { Bar } from "../bars.ts";
import { endOf } from "../bars.ts";
import { type PlacedBar, type Scale, type TimelineLayout, ticksOf, xOf } from "../layout.ts";
import { BarShape } from "./bar-shape.tsx";
import type { Geometry } from "./geometry.ts";

type Props = {
  readonly layout: TimelineLayout;
  readonly geometry: Geometry;
  readonly scale: Scale;
  readonly zeroMs: number;
  readonly nowMs: number;
  readonly isLive: boolean;
  readonly selected: Bar | undefined;
  readonly hovered: Bar | undefined;
  /** The period that a person is selecting. */
  readonly brush: { readonly from: number; readonly to: number } | null;
};

/** Less progress does not allow an estimate of an attempt's end. */
const MIN_PROGRESS = 0.04;
const MAX_LINKS = 100;

/** The probable end of encoding of a running attempt, in ms. */
function expectedEnd({ state, parts, progress }: Bar, nowMs: number): number | null {
  const part = parts.at(-1);
  if (state !== "running" || part?.stage !== "encoding" || progress < MIN_PROGRESS) return null;
  // Rounded, so that a bar is not drawn again for an invisible change.
  return Math.round((part.fromMs + (nowMs - part.fromMs) / progress) / 250) * 250;
}

export function Lanes(props: Props) {
  const { layout, geometry, scale, zeroMs, nowMs, isLive, selected, hovered, brush } = props;
  const focus = hovered ?? selected;
  return (
    <g transform={`translate(${geometry.names} 0)`}>
      <Grid geometry={geometry} scale={scale} zeroMs={zeroMs} />
      {layout.placed.map(({ bar, lane }) => (
        <BarShape
          key={bar.key}
          bar={bar}
          y={(geometry.tops[lane] ?? 0) + 1.5}
          height={geometry.laneHeight - 3}
          scale={scale}
          endMs={endOf(bar, nowMs)}
          expectedMs={expectedEnd(bar, nowMs)}
          isSelected={bar.key === selected?.key}
          isRelated={focus !== undefined && bar.key !== focus.key && isSameWork(bar, focus)}
        />
      ))}
      <Links placed={layout.placed} geometry={geometry} scale={scale} nowMs={nowMs} />
      {isLive && <NowLine x={xOf(scale, nowMs)} scale={scale} height={geometry.height} />}
      {brush && (
        <rect
          class="brush"
          x={Math.min(brush.from, brush.to)}
          width={Math.abs(brush.to - brush.from)}
          y={0}
          height={geometry.height}
        />
      )}
    </g>
  );
}

/** True if two bars are attempts at the same chunk or task. */
export const isSameWork = (a: Bar, b: Bar): boolean =>
  a.task === b.task || (a.chunk !== undefined && a.chunk.number === b.chunk?.number);

function Grid({ geometry, scale, zeroMs }: Pick<Props, "geometry" | "scale" | "zeroMs">) {
  return (
    <>
      {geometry.nodes.map(({ top, height }) => (
        <rect key={top} class="node-rows" x={0} y={top} width={scale.width} height={height} rx={3} />
      ))}
      {ticksOf(scale, zeroMs, 84).map((seconds) => {
        const x = Math.round(xOf(scale, zeroMs + seconds * 1000)) + 0.5;
        return <line key={seconds} class="grid" x1={x} x2={x} y1={0} y2={geometry.height} />;
      })}
    </>
  );
}

function NowLine({ x, scale, height }: { x: number; scale: Scale; height: number }) {
  if (x < 0 || x > scale.width) return null;
  return <line class="now" x1={x} x2={x} y1={0} y2={height} />;
}

type LinksProps = Pick<Props, "geometry" | "scale" | "nowMs"> & { readonly placed: readonly PlacedBar[] };

/** Lines from the end of a failed attempt to the next attempt at the same task. */
function Links({ placed, geometry, scale, nowMs }: LinksProps) {
  const byTask = new Map<string, PlacedBar[]>();
  for (const box of placed) byTask.set(box.bar.task, [...(byTask.get(box.bar.task) ?? []), box]);
  const pairs = [...byTask.values()].flatMap((all) => {
    const ordered = all.sort((a, b) => a.bar.attempt - b.bar.attempt);
    return ordered.slice(1).map((next, at) => [ordered[at], next] as const);
  });
  const middle = (lane: number): number => (geometry.tops[lane] ?? 0) + geometry.laneHeight / 2;
  return (
    <>
      {pairs.slice(0, MAX_LINKS).map(([before, next]) => {
        if (!before) return null;
        const [x1, x2] = [xOf(scale, endOf(before.bar, nowMs)), xOf(scale, next.bar.fromMs)];
        const [y1, y2] = [middle(before.lane), middle(next.lane)];
        const bend = Math.max(10, Math.abs(x2 - x1) / 2);
        const d = `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
        return <path key={next.bar.key} class="link" d={d} />;
      })}
    </>
  );
}
