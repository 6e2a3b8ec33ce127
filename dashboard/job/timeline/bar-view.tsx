// A bar of the timeline.
import { percent } from "../../core/format.ts";
import { type Bar, endOf, nameOf } from "./bars.ts";
import { fittingText, pixelsOf, type Scale, spanOf } from "./layout.ts";
import { drawnParts, ENDINGS, lookOf } from "./looks.ts";

type Props = {
  readonly bar: Bar;
  readonly scale: Scale;
  readonly nowMs: number;
  readonly hasLabel: boolean;
  readonly isSelected: boolean;
  /** True while another attempt at the same work is selected. */
  readonly isRelated: boolean;
};

export function BarView({ bar, scale, nowMs, hasLabel, isSelected, isRelated }: Props) {
  const endMs = endOf(bar, nowMs);
  if (endMs < scale.fromMs || bar.fromMs > scale.toMs) return null;
  const classes = ["bar", bar.state, bar.isSpeculative && "speculative", bar.isEarlier && "earlier"];
  if (isSelected) classes.push("selected");
  if (isRelated) classes.push("related");
  const expectedMs = expectedEnd(bar, nowMs);
  const label = hasLabel ? labelOf(bar, scale, endMs) : null;
  return (
    <>
      {expectedMs !== null && expectedMs > endMs && <i class="expected" style={spanOf(scale, endMs, expectedMs)} />}
      <div
        class={classes.filter(Boolean).join(" ")}
        data-key={bar.key}
        data-state={bar.state}
        data-progress={bar.progress}
        style={spanOf(scale, bar.fromMs, endMs)}
      >
        {drawnParts(bar).map((part, at) => (
          <span
            key={at}
            class={`part ${lookOf(bar, part)}`}
            style={{ flexGrow: pixelsOf(scale, part.fromMs, part.toMs ?? endMs) }}
          >
            {label?.part === at && <b>{label.text}</b>}
          </span>
        ))}
      </div>
    </>
  );
}

/** Less progress does not allow an estimate of an attempt's end. */
const MIN_PROGRESS = 0.04;

/** The probable end of encoding of a running attempt, in ms. */
function expectedEnd({ state, parts, progress }: Bar, nowMs: number): number | null {
  const part = parts.at(-1);
  if (state !== "running" || part?.stage !== "encoding" || progress < MIN_PROGRESS) return null;
  return part.fromMs + (nowMs - part.fromMs) / progress;
}

/** Average width of a character of a label, and the room beside it, in pixels. */
const CHARACTER = 7;
const MARGIN = 8;

/** The longest label that fits, from the start of the main work or of the bar; null: none fits. */
function labelOf(bar: Bar, scale: Scale, endMs: number): { readonly part: number; readonly text: string } | null {
  const parts = drawnParts(bar);
  const main = parts.findIndex(({ stage }) => stage === "encoding");
  const places = [...new Set([Math.max(0, main), 0])].map((part) => {
    const width = pixelsOf(scale, parts[part]?.fromMs ?? bar.fromMs, endMs) - MARGIN;
    return { part, text: fittingText(labelsOf(bar), width, CHARACTER) };
  });
  const longest = Math.max(...places.map(({ text }) => text.length));
  return longest === 0 ? null : (places.find(({ text }) => text.length === longest) ?? null);
}

/** The possible labels, the longest first, with a sign if the attempt ended badly. */
function labelsOf(bar: Bar): string[] {
  const sign = bar.state === "running" || bar.state === "completed" ? "" : ENDINGS[bar.state].sign;
  const name = `${bar.isSpeculative ? "2nd " : ""}${nameOf(bar)}`;
  const isEncoding = bar.state === "running" && bar.parts.at(-1)?.stage === "encoding" && bar.progress > 0;
  const texts = [isEncoding ? `${name} · ${percent(bar.progress)}` : "", name, bar.chunk ? `${bar.chunk.number}` : ""];
  return [...texts.map((text) => (text === "" ? "" : `${sign} ${text}`.trim())), sign].filter((text) => text !== "");
}
