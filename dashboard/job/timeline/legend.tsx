// The meaning of the colors and patterns that the timeline has now.
import type { Bar } from "./bars.ts";
import { ENDINGS, LOOKS, type Look, lookOf } from "./drawing/looks.ts";

const ORDER = Object.keys(LOOKS) as Look[];
const WIDTH = 22;
const HEIGHT = 12;

export function Legend({ bars }: { readonly bars: readonly Bar[] }) {
  const looks = new Set(
    bars.flatMap((bar) => (bar.parts.length > 0 ? bar.parts : [undefined]).map((part) => lookOf(bar, part))),
  );
  const endings = new Set(bars.map(({ state }) => state));
  return (
    <ul class="legend" aria-label="Legend">
      {ORDER.filter((look) => looks.has(look)).map((look) => (
        <Entry key={look} look={look} text={LOOKS[look]} />
      ))}
      {Object.entries(ENDINGS)
        .filter(([state]) => endings.has(state as Bar["state"]))
        .map(([state, { word, sign }]) => (
          <Entry key={state} bar={state} frame="ending" text={`${sign} ${word}`} />
        ))}
      {bars.some(({ isSpeculative }) => isSpeculative) && (
        <Entry bar="speculative" frame="outline" text="second attempt of a slow chunk" />
      )}
    </ul>
  );
}

type EntryProps = {
  readonly look?: Look;
  /** The class of the bar. */
  readonly bar?: string;
  /** The class of the frame around the bar. */
  readonly frame?: "ending" | "outline";
  readonly text: string;
};

/** A small bar, drawn like the bars of the timeline, and its meaning. */
function Entry({ look = "encoding", bar = "", frame, text }: EntryProps) {
  const size = { width: WIDTH, height: HEIGHT, rx: 2 };
  return (
    <li>
      <svg width={WIDTH} height={HEIGHT} aria-hidden="true" focusable="false">
        <g class={`bar ${bar}`}>
          <g class={look}>
            <rect class="fill" {...size} />
            {look !== "encoding" && <rect class="texture" {...size} />}
          </g>
          {frame && <rect class={frame} {...size} />}
        </g>
      </svg>
      {text}
    </li>
  );
}
