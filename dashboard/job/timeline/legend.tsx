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
    <ul class="tl-legend" aria-label="Legend">
      {ORDER.filter((look) => looks.has(look)).map((look) => (
        <li key={look}>
          <Swatch>
            <g class={look}>
              <rect class="fill" width={WIDTH} height={HEIGHT} rx={2} />
              {look !== "encoding" && <rect class="texture" width={WIDTH} height={HEIGHT} rx={2} />}
            </g>
          </Swatch>
          {LOOKS[look]}
        </li>
      ))}
      {Object.entries(ENDINGS)
        .filter(([state]) => endings.has(state as Bar["state"]))
        .map(([state, { word, sign }]) => (
          <li key={state}>
            <Swatch>
              <g class={`bar ${state}`}>
                <g class="encoding">
                  <rect class="fill" width={WIDTH} height={HEIGHT} rx={2} />
                </g>
                <rect class="ending" width={WIDTH} height={HEIGHT} rx={2} />
              </g>
            </Swatch>
            {sign} {word}
          </li>
        ))}
      {bars.some(({ isSpeculative }) => isSpeculative) && (
        <li>
          <Swatch>
            <g class="bar speculative">
              <g class="encoding">
                <rect class="fill" width={WIDTH} height={HEIGHT} rx={2} />
              </g>
              <rect class="outline" x={0.75} y={0.75} width={WIDTH - 1.5} height={HEIGHT - 1.5} rx={2} />
            </g>
          </Swatch>
          second attempt of a slow chunk
        </li>
      )}
    </ul>
  );
}

function Swatch({ children }: { readonly children: preact.ComponentChildren }) {
  return (
    <svg width={WIDTH} height={HEIGHT} aria-hidden="true" focusable="false">
      {children}
    </svg>
  );
}
