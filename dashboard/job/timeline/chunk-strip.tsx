// The chunks of the video in the order of their time: completed chunks, and the complete part from the start.
import { percent, timecode } from "../../core/format.ts";
import type { ChunkCell, ChunkMap } from "./chunk-map.ts";
import { fittingText, type Scale, spanOf } from "./layout.ts";
import { Ticks } from "./ticks.tsx";

/** Average width of a character, in pixels. */
const CHARACTER = 6.4;

type Props = {
  readonly map: ChunkMap;
  /** Width of the cells, in pixels. */
  readonly width: number;
  /** Seconds of a stream that players can already play; null: no such stream. */
  readonly playableSeconds: number | null;
  /** Numbers of chunks. */
  readonly selected: number | undefined;
  readonly hovered: number | undefined;
};

export function ChunkStrip({ map, width, playableSeconds, selected, hovered }: Props) {
  const scale = { fromMs: 0, toMs: map.seconds * 1000, width };
  const mean = width / map.cells.length;
  const gap = mean > 6 ? 1.5 : mean > 2 ? 1 : 0;
  return (
    <div class="tl-row strip" aria-hidden="true">
      <span class="name">Source</span>
      <div class="track">
        <div class="cells" style={{ gap: `${gap}px` }}>
          {map.cells.map((cell) => {
            const { number, seconds, status, done, isDouble } = cell;
            const classes = ["cell", status, isDouble && "double", number === hovered && "related"];
            if (number === selected) classes.push("selected");
            return (
              <span
                key={number}
                class={classes.filter(Boolean).join(" ")}
                data-chunk={number}
                style={{ flexGrow: seconds, "--done": `${done * 100}%` }}
              >
                {labelOf(cell, (seconds / map.seconds) * width - gap)}
              </span>
            );
          })}
        </div>
        <Ticks scale={scale} zeroMs={0} gap={72} />
        <PlayHead map={map} scale={scale} playableSeconds={playableSeconds} />
      </div>
    </div>
  );
}

/** The number of the chunk. If there is room, its progress follows, or its number of attempts. */
function labelOf({ number, status, done, attempts }: ChunkCell, width: number): string {
  const sign = status === "completed" ? (attempts > 1 ? "↻" : "✓") : status === "failed" ? "✕" : "";
  const more = status === "running" ? percent(done) : sign;
  const texts = [...(more === "" ? [] : [`${number} ${more}`]), String(number)];
  return fittingText(texts, width - 6, CHARACTER);
}

/** A mark at the end of the part that can be played, or that is complete. */
function PlayHead({ map, scale, playableSeconds }: Pick<Props, "map" | "playableSeconds"> & { readonly scale: Scale }) {
  const isPlayable = playableSeconds !== null;
  const seconds = Math.min(playableSeconds ?? map.completeToSeconds, map.seconds);
  if (seconds <= 0 || (!isPlayable && map.completed === map.cells.length)) return null;
  const text = `${isPlayable ? "▶ playable" : "complete"} up to ${timecode(seconds, 0)}`;
  const right = (1 - seconds / map.seconds) * scale.width;
  const isLeft = text.length * CHARACTER + 12 > right;
  return (
    <div class={isLeft ? "head left" : "head"} style={spanOf(scale, 0, seconds * 1000)}>
      <span>{text}</span>
    </div>
  );
}
