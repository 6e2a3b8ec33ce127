// The timeline itself: the phases of the job on its axis, and a row for each slot of a node.
import { duration, plural } from "../../core/format.ts";
import { BarView } from "./bar-view.tsx";
import { type Bar, isSameWork } from "./bars.ts";
import { fittingText, type NodeRows, pixelsOf, type Scale, spanOf, ticksOf } from "./layout.ts";
import type { Phase } from "./phases.ts";
import { Ticks } from "./ticks.tsx";

/** The shortest distance between marks of the axis, in pixels. */
const TICK_GAP = 84;

type Props = {
  /** Sorted by their start. */
  readonly bars: readonly Bar[];
  readonly rows: readonly NodeRows[];
  readonly scale: Scale;
  readonly phases: readonly Phase[];
  readonly zeroMs: number;
  readonly nowMs: number;
  readonly isLive: boolean;
  readonly selected: Bar | undefined;
  readonly select: (key: string | null) => void;
  readonly hovered: Bar | undefined;
  readonly hover: (key: string | null) => void;
  /** The description of a bar, beside the pointer. */
  readonly titleOf: (bar: Bar) => string;
  /** A description for people who cannot see the drawing. */
  readonly summary: string;
};

/** The bar at the pointer. */
const elementAt = ({ target }: Event): HTMLElement | null =>
  target instanceof Element ? target.closest<HTMLElement>("[data-key]") : null;

export function Chart(props: Props) {
  const { bars, scale, phases, zeroMs, select, hover, titleOf, summary } = props;
  const onPointerOver = (event: PointerEvent): void => {
    const element = elementAt(event);
    const bar = bars.find(({ key }) => key === element?.dataset.key);
    hover(bar?.key ?? null);
    if (element && bar) element.title = titleOf(bar);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: it groups no fields
    <div
      class="tl-chart"
      role="group"
      aria-label={summary}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolled and read by keyboard
      tabIndex={0}
      onKeyDown={(event) => onKey(event, props)}
      onClick={(event) => select(elementAt(event)?.dataset.key ?? null)}
      onPointerOver={onPointerOver}
      onPointerLeave={() => hover(null)}
    >
      <div class="tl-row axis" aria-hidden="true">
        <span class="name" />
        <div class="track">
          {phases.map((phase) => (
            <PhaseMark key={phase.name} phase={phase} scale={scale} />
          ))}
          <Ticks scale={scale} zeroMs={zeroMs} gap={TICK_GAP} />
        </div>
      </div>
      <Rows {...props} />
    </div>
  );
}

/** Arrow keys go from bar to bar, in the order of their starts. */
function onKey(event: KeyboardEvent, { bars, selected, select }: Props): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const at = bars.findIndex(({ key }) => key === selected?.key);
  const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: bars.length - 1 }[event.key];
  if (event.key === "Escape" && selected) select(null);
  else if (next === undefined) return;
  else select(bars[Math.min(Math.max(0, next), bars.length - 1)]?.key ?? null);
  event.preventDefault();
  event.stopPropagation();
}

/** A phase above its period, with as much of its name as fits. */
function PhaseMark({ phase: { name, fromMs, toMs }, scale }: { readonly phase: Phase; readonly scale: Scale }) {
  const width = pixelsOf(scale, fromMs, toMs);
  if (width < 1) return null;
  return (
    <span class={`phase ${name}`} style={spanOf(scale, fromMs, toMs)}>
      {fittingText([`${name} ${duration((toMs - fromMs) / 1000)}`, name], width - 12, 6.2)}
    </span>
  );
}

/** Height of a slot, in pixels. Smaller slots have no room for labels. */
const heightOf = (slots: number): number => (slots <= 8 ? 26 : slots <= 24 ? 22 : slots <= 48 ? 18 : 14);
const MIN_LABEL_HEIGHT = 15;

function Rows({ rows, scale, zeroMs, nowMs, isLive, selected, hovered }: Props) {
  const height = heightOf(rows.reduce((sum, { slots }) => sum + slots.length, 0));
  const focus = hovered ?? selected;
  const leftOf = (atMs: number) => ({ left: spanOf(scale, atMs, atMs).left });
  return (
    <div class="lanes" aria-hidden="true" style={{ "--slot": `${height}px` }}>
      <div class="marks">
        {ticksOf(scale, zeroMs, TICK_GAP).map((seconds) => (
          <i key={seconds} style={leftOf(zeroMs + seconds * 1000)} />
        ))}
        {isLive && nowMs <= scale.toMs && <i class="now" style={leftOf(nowMs)} />}
      </div>
      {rows.map(({ node, slots }) => (
        <div key={node} class="tl-row node">
          <span class="name" title={node}>
            <span class="ellipsis">{node}</span>
            {slots.length > 1 && <small>{plural(slots.length, "slot")}</small>}
          </span>
          <div class="track">
            {slots.map((bars, at) => (
              <div key={at} class="slot">
                {bars.map((bar) => (
                  <BarView
                    key={bar.key}
                    bar={bar}
                    scale={scale}
                    nowMs={nowMs}
                    hasLabel={height >= MIN_LABEL_HEIGHT}
                    isSelected={bar === selected}
                    isRelated={focus !== undefined && bar !== focus && isSameWork(bar, focus)}
                  />
                ))}
              </div>
            ))}
          </div>
        </div>
      ))}
    </div>
  );
}
