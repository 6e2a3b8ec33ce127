// The chunks of the video in the order of their time: completed chunks, and the complete part from the start.
import { memo } from "preact/compat";
import { percent, timecode } from "../../../core/format.ts";
import type { ChunkCell, ChunkMap } from "../chunk-map.ts";
import { type Scale, ticksOf } from "../layout.ts";

const CELLS_TOP = 22;
const CELLS_HEIGHT = 30;
const HEIGHT = 72;

type Props = {
  readonly map: ChunkMap;
  /** The whole width. The names of nodes take `left` of it. */
  readonly width: number;
  readonly left: number;
  /** Seconds of a stream that players can already play; null: no such stream. */
  readonly playableSeconds: number | null;
  readonly selected: number | undefined;
  readonly hovered: number | undefined;
};

export const ChunkStrip = memo(function ChunkStrip({ map, width, left, playableSeconds, selected, hovered }: Props) {
  const scale: Scale = { fromMs: 0, toMs: map.seconds, width: Math.max(1, width - left) };
  const x = (seconds: number): number => (seconds / map.seconds) * scale.width;
  return (
    <svg class="strip" width={width} height={HEIGHT} aria-hidden="true" focusable="false">
      {left > 0 && (
        <text class="name" x={12} y={CELLS_TOP + CELLS_HEIGHT / 2} dominant-baseline="central">
          Source
        </text>
      )}
      <g transform={`translate(${left} 0)`}>
        {map.cells.map((cell) => (
          <Cell
            key={cell.number}
            cell={cell}
            x={x(cell.fromSeconds)}
            width={x(cell.toSeconds) - x(cell.fromSeconds)}
            isSelected={cell.number === selected}
            isHovered={cell.number === hovered}
          />
        ))}
        {ticksOf(scale, 0, 72, 1).map((seconds) => (
          <text
            key={seconds}
            class="tick"
            x={x(seconds)}
            y={HEIGHT - 6}
            text-anchor={seconds === 0 ? "start" : "middle"}
          >
            {x(seconds) < scale.width - 16 ? timecode(seconds, 0) : ""}
          </text>
        ))}
        <PlayHead map={map} x={x} width={scale.width} playableSeconds={playableSeconds} />
      </g>
    </svg>
  );
});

type CellProps = { cell: ChunkCell; x: number; width: number; isSelected: boolean; isHovered: boolean };

function Cell({ cell, x, width, isSelected, isHovered }: CellProps) {
  const gap = width > 6 ? 1.5 : width > 3 ? 0.75 : 0;
  const inner = Math.max(0.5, width - gap);
  const radius = Math.min(3, inner / 3);
  const classes = ["cell", cell.status, isSelected && "selected", isHovered && "related", cell.isDouble && "double"];
  const text = labelOf(cell, inner);
  return (
    <g class={classes.filter(Boolean).join(" ")} data-chunk={cell.number}>
      <rect class="back" x={x} y={CELLS_TOP} width={inner} height={CELLS_HEIGHT} rx={radius} />
      {cell.done > 0 && (
        <rect class="done" x={x} y={CELLS_TOP} width={inner * cell.done} height={CELLS_HEIGHT} rx={radius} />
      )}
      {cell.status === "failed" && (
        <rect class="ending" x={x} y={CELLS_TOP} width={inner} height={CELLS_HEIGHT} rx={radius} />
      )}
      <rect class="outline" x={x} y={CELLS_TOP} width={inner} height={CELLS_HEIGHT} rx={radius} />
      {text !== "" && (
        <text x={x + inner / 2} y={CELLS_TOP + CELLS_HEIGHT / 2} text-anchor="middle" dominant-baseline="central">
          {text}
        </text>
      )}
    </g>
  );
}

/** The number of the chunk. If there is room, its progress follows, or its number of attempts. */
function labelOf({ number, status, done, attempts }: ChunkCell, width: number): string {
  const sign = status === "completed" ? (attempts > 1 ? "↻" : "✓") : status === "failed" ? "✕" : "";
  const more = status === "running" ? percent(done) : sign;
  const texts = [...(more === "" ? [] : [`${number} ${more}`]), String(number)];
  return texts.find((text) => text.length * 6.4 + 6 <= width) ?? "";
}

type HeadProps = { map: ChunkMap; x: (seconds: number) => number; width: number; playableSeconds: number | null };

/** A mark at the end of the part that can be played, or that is complete. */
function PlayHead({ map, x, width, playableSeconds }: HeadProps) {
  const isPlayable = playableSeconds !== null;
  const seconds = Math.min(playableSeconds ?? map.completeToSeconds, map.seconds);
  if (seconds <= 0 || (!isPlayable && map.completed === map.cells.length)) return null;
  const at = x(seconds);
  const text = `${isPlayable ? "▶ playable" : "complete"} up to ${timecode(seconds, 0)}`;
  const isLeft = at + text.length * 6.4 + 12 > width;
  const bottom = CELLS_TOP + CELLS_HEIGHT;
  return (
    <g class={isPlayable ? "head playable" : "head"}>
      <rect class="reach" x={0} y={bottom + 2} width={at} height={2} />
      <line x1={at} x2={at} y1={CELLS_TOP - 6} y2={bottom + 4} />
      <path d={`M${at - 5} ${CELLS_TOP - 9}h10l-5 7z`} />
      <text
        x={isLeft ? at - 9 : at + 9}
        y={CELLS_TOP - 11}
        text-anchor={isLeft ? "end" : "start"}
        dominant-baseline="central"
      >
        {text}
      </text>
    </g>
  );
}
