// Minutes of output by day as bars. The table below the chart has the numbers.
import { amount, date } from "../core/format.ts";
import { TIER_NAMES } from "../core/tiers.ts";
import { useWidth } from "../parts/use-width.ts";
import { axisText, type Bar, scaleOf, stackOf, tiersOf } from "./bars.ts";

const HEIGHT = 280;
const MARGIN = { left: 56, right: 8, top: 12, bottom: 26 };
/** The room that the label of a day needs, in pixels. */
const LABEL_WIDTH = 76;

export function Chart({ bars }: { readonly bars: readonly Bar[] }) {
  const { ref, width } = useWidth();
  return (
    <figure class="usage-chart">
      <figcaption class="legend">
        {tiersOf(bars).map((tier) => (
          <span key={tier}>
            <svg width="14" height="14" aria-hidden="true">
              <rect class={`fill-${tier}`} width="14" height="14" rx="2" />
            </svg>
            {TIER_NAMES[tier]}
          </span>
        ))}
      </figcaption>
      <div ref={ref}>{width > 0 && <Plot bars={bars} width={width} />}</div>
    </figure>
  );
}

function Plot({ bars, width }: { readonly bars: readonly Bar[]; readonly width: number }) {
  const lines = scaleOf(Math.max(0, ...bars.map(({ minutes }) => minutes)));
  const top = lines.at(-1) ?? 1;
  const plot = { width: width - MARGIN.left - MARGIN.right, height: HEIGHT, top, count: bars.length };
  const yOf = (minutes: number): number => HEIGHT - (minutes / top) * HEIGHT;
  const every = Math.max(1, Math.ceil(LABEL_WIDTH / (plot.width / bars.length)));
  return (
    <svg
      width={width}
      height={HEIGHT + MARGIN.top + MARGIN.bottom}
      role="img"
      aria-label="Minutes of output by day, as bars. The table below has the numbers."
    >
      <g transform={`translate(${MARGIN.left} ${MARGIN.top})`}>
        {lines.map((minutes) => (
          <g key={minutes} transform={`translate(0 ${yOf(minutes)})`}>
            <line class="grid" x2={plot.width} />
            <text class="axis" x={-8} dy="0.32em" text-anchor="end">
              {axisText(minutes)}
            </text>
          </g>
        ))}
        {bars.map((bar, at) => (
          <g key={bar.from}>
            <title>{titleOf(bar)}</title>
            <rect class="column" x={(at * plot.width) / bars.length} width={plot.width / bars.length} height={HEIGHT} />
            {stackOf(bar, at, plot).map(({ tier, ...rect }) => (
              <rect key={tier} class={`part fill-${tier}`} {...rect} />
            ))}
            {at % every === 0 && (
              <text class="axis" x={((at + 0.5) * plot.width) / bars.length} y={HEIGHT + 18} text-anchor="middle">
                {dayText(bar.from)}
              </text>
            )}
          </g>
        ))}
        <text class="axis" x={-MARGIN.left} y={HEIGHT + 18}>
          min
        </text>
      </g>
    </svg>
  );
}

/** Noon in UTC is on the same day in most time zones. */
const dayText = (day: string): string => date(`${day}T12:00:00`).replace(/ \d{4}$/, "");

function titleOf({ from, to, parts, minutes }: Bar): string {
  const days = from === to ? dayText(from) : `${dayText(from)} to ${dayText(to)}`;
  const tiers = parts
    .filter((part) => part.minutes > 0)
    .map((part) => `${TIER_NAMES[part.tier]} ${amount(part.minutes)}`);
  return `${days}: ${amount(minutes)} min${tiers.length > 0 ? ` (${tiers.join(", ")})` : ""}`;
}
