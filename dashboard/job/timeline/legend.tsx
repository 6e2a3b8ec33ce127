// The meaning of the colors and patterns that the timeline has now.
import type { Bar } from "./bars.ts";
import { drawnParts, ENDINGS, LOOKS, type Look, lookOf } from "./looks.ts";

export function Legend({ bars }: { readonly bars: readonly Bar[] }) {
  const looks = new Set(bars.flatMap((bar) => drawnParts(bar).map((part) => lookOf(bar, part))));
  const endings = new Set<string>(bars.map(({ state }) => state));
  return (
    <ul class="legend" aria-label="Legend">
      {(Object.keys(LOOKS) as Look[])
        .filter((look) => looks.has(look))
        .map((look) => (
          <Entry key={look} look={look} text={LOOKS[look]} />
        ))}
      {Object.entries(ENDINGS)
        .filter(([state]) => endings.has(state))
        .map(([state, { word, sign }]) => (
          <Entry key={state} bar={state} text={`${sign} ${word}`} />
        ))}
      {bars.some(({ isSpeculative }) => isSpeculative) && (
        <Entry bar="speculative" text="second attempt of a slow chunk" />
      )}
    </ul>
  );
}

/** A small bar, drawn like the bars of the timeline, and its meaning. `bar`: the class of the bar. */
const Entry = ({ look = "encoding", bar = "", text }: { look?: Look; bar?: string; text: string }) => (
  <li>
    <span class={`bar ${bar}`} aria-hidden="true">
      <span class={`part ${look}`} />
    </span>
    {text}
  </li>
);
