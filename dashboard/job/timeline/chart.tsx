// The timeline itself: the axis, and the lanes of nodes with their bars.
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { plural } from "../../core/format.ts";
import type { Bar } from "./bars.ts";
import { Axis } from "./drawing/axis.tsx";
import { type Geometry, geometryOf } from "./drawing/geometry.ts";
import { Lanes } from "./drawing/lanes.tsx";
import { Tooltip } from "./drawing/tooltip.tsx";
import { type Scale, type TimelineLayout, timeAt } from "./layout.ts";
import { nextBar } from "./next-bar.ts";
import type { Phase } from "./phases.ts";
import { useBrush, ZOOM_IN, ZOOM_OUT, type Zoom } from "./zoom.ts";

type Props = {
  readonly layout: TimelineLayout;
  readonly width: number;
  readonly zoom: Zoom;
  readonly phases: readonly Phase[];
  readonly zeroMs: number;
  readonly nowMs: number;
  readonly isLive: boolean;
  readonly selected: Bar | undefined;
  readonly select: (key: string | null) => void;
  readonly hovered: Bar | undefined;
  readonly hover: (key: string | null) => void;
  /** A description for people who cannot see the drawing. */
  readonly summary: string;
};

const keyAt = (event: Event): string | null =>
  event.target instanceof Element ? (event.target.closest("[data-key]")?.getAttribute("data-key") ?? null) : null;

export function Chart(props: Props) {
  const { layout, width, zoom, phases, zeroMs, nowMs, isLive, selected, select, hovered, hover, summary } = props;
  const geometry = useMemo(() => geometryOf(layout, width), [layout, width]);
  const { fromMs, toMs } = zoom.shown;
  // The same object while nothing changes, so that bars are not drawn again.
  const scale: Scale = useMemo(
    () => ({ fromMs, toMs, width: Math.max(1, width - geometry.names) }),
    [fromMs, toMs, width, geometry.names],
  );
  const [pointer, setPointer] = useState<{ x: number; y: number } | null>(null);
  const { brush, handlers } = useBrush(scale, geometry.names, zoom.show, (event) => select(keyAt(event)));
  const wheel = useWheelZoom(zoom, scale, geometry);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolled and read by keyboard
    // biome-ignore lint/a11y/useSemanticElements: it groups no fields
    <div class="tl-chart" role="group" aria-label={summary} tabIndex={0} onKeyDown={keysOf(props)}>
      <Axis scale={scale} left={geometry.names} zeroMs={zeroMs} phases={phases} />
      <svg
        ref={wheel}
        class="lanes"
        width={width}
        height={geometry.height}
        aria-hidden="true"
        focusable="false"
        {...handlers}
        onPointerMove={(event) => {
          handlers.onPointerMove(event);
          hover(keyAt(event));
          setPointer({ x: event.clientX, y: event.clientY });
        }}
        onPointerLeave={() => hover(null)}
        onDblClick={zoom.reset}
      >
        <Patterns />
        <Lanes {...{ layout, geometry, scale, zeroMs, nowMs, isLive, selected, hovered, brush }} />
        <NodeNames layout={layout} geometry={geometry} />
      </svg>
      {hovered && pointer && !brush && (
        <Tooltip bar={hovered} x={pointer.x} y={pointer.y} zeroMs={zeroMs} nowMs={nowMs} />
      )}
    </div>
  );
}

/** Arrow keys go from bar to bar; with Shift they move through the time. */
const keysOf =
  ({ layout, selected, select, zoom }: Props) =>
  (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.shiftKey && step !== undefined) zoom.pan(step / 4);
    else if (event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End") {
      const next = nextBar(layout, selected?.key ?? null, event.key);
      if (next === null) return;
      select(next);
    } else if (event.key === "Escape" && (selected || zoom.isZoomed)) {
      if (selected) select(null);
      else zoom.reset();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

/** The names beside the lanes, or above them. */
function NodeNames({ layout, geometry }: { layout: TimelineLayout; geometry: Geometry }) {
  return (
    <>
      {layout.nodes.map(({ node, lanes }, at) => {
        const { top = 0, height = 0 } = geometry.nodes[at] ?? {};
        const isBeside = geometry.names > 0;
        const slots = isBeside && height >= 40 ? plural(lanes, "slot") : "";
        const y = isBeside ? top + height / 2 : top + 9;
        const most = isBeside ? 15 : 40;
        return (
          <g key={node} class="node-name">
            <title>{node}</title>
            <text x={isBeside ? 12 : 4} y={slots === "" ? y : y - 7} dominant-baseline="central">
              {node.length > most ? `${node.slice(0, most - 1)}…` : node}
            </text>
            {slots !== "" && (
              <text class="slots" x={12} y={y + 9} dominant-baseline="central">
                {slots}
              </text>
            )}
          </g>
        );
      })}
    </>
  );
}

/** Zooms with Ctrl (or Command) and the wheel. Only non-passive listeners can prevent the browser's own zoom. */
function useWheelZoom(zoom: Zoom, scale: Scale, { names }: Geometry) {
  const element = useRef<SVGSVGElement>(null);
  const latest = useRef({ zoom, scale, names });
  latest.current = { zoom, scale, names };
  useLayoutEffect(() => {
    const target = element.current;
    if (!target) return;
    const onWheel = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const { zoom: current, scale: currentScale, names: left } = latest.current;
      const at = timeAt(currentScale, event.clientX - target.getBoundingClientRect().left - left);
      current.by(event.deltaY < 0 ? ZOOM_IN ** 0.4 : ZOOM_OUT ** 0.4, at);
    };
    target.addEventListener("wheel", onWheel, { passive: false });
    return () => target.removeEventListener("wheel", onWheel);
  }, []);
  return element;
}

// The patterns of the timeline: they distinguish bars without color, too.

const PATTERNS = [
  { id: "tl-dots", width: 5, height: 5, d: "M1.25 1.25v0M3.75 3.75v0" },
  { id: "tl-lines", width: 4, height: 4, d: "M1 0V4" },
  { id: "tl-waves", width: 8, height: 4, d: "M0 3q2 -3 4 0t4 0" },
  { id: "tl-steps", width: 6, height: 6, d: "M0 6L3 0L6 6" },
  { id: "tl-hatch", width: 6, height: 6, d: "M1.5 0V6", patternTransform: "rotate(45)" },
  { id: "tl-thin", width: 5, height: 5, d: "M1 0V5", patternTransform: "rotate(-45)" },
];

/** Definitions for a drawing. Their ids are unique because the page has only one drawing. */
const Patterns = () => (
  <defs>
    {PATTERNS.map(({ d, ...rest }) => (
      <pattern key={rest.id} {...rest} patternUnits="userSpaceOnUse">
        <path d={d} />
      </pattern>
    ))}
  </defs>
);
