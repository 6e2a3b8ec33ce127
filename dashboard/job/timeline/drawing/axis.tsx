// The head of the timeline: the phases of the job, and the time since its start.
import { memo } from "preact/compat";
import { duration, timecode } from "../../../core/format.ts";
import { type Scale, ticksOf, xOf } from "../layout.ts";
import type { Phase } from "../phases.ts";

export const AXIS_HEIGHT = 44;
const TICK_GAP = 84;

type Props = {
  readonly scale: Scale;
  /** Start of the lanes, in pixels. */
  readonly left: number;
  readonly zeroMs: number;
  readonly phases: readonly Phase[];
};

export const Axis = memo(function Axis({ scale, left, zeroMs, phases }: Props) {
  const digits = (scale.toMs - scale.fromMs) / 1000 < 8 ? 1 : 0;
  return (
    <svg class="axis" width={left + scale.width} height={AXIS_HEIGHT} aria-hidden="true" focusable="false">
      <g transform={`translate(${left} 0)`}>
        {phases.map((phase) => (
          <PhaseMark key={phase.name} phase={phase} scale={scale} />
        ))}
        {ticksOf(scale, zeroMs, TICK_GAP).map((seconds) => {
          const x = xOf(scale, zeroMs + seconds * 1000);
          // There is no room for the last label.
          if (x > scale.width - 24) return null;
          return (
            <text key={seconds} class="tick" x={x + 4} y={AXIS_HEIGHT - 7}>
              {timecode(seconds, digits)}
            </text>
          );
        })}
      </g>
    </svg>
  );
});

/** A phase above its period, with as much of its name as fits. */
function PhaseMark({ phase, scale }: { phase: Phase; scale: Scale }) {
  const from = Math.max(0, xOf(scale, phase.fromMs));
  const to = Math.min(scale.width, xOf(scale, phase.toMs));
  const width = to - from;
  if (width < 1) return null;
  const texts = [`${phase.name} ${duration((phase.toMs - phase.fromMs) / 1000)}`, phase.name];
  const text = texts.find((candidate) => candidate.length * 6.2 + 12 <= width);
  return (
    <g class={`phase ${phase.name}`}>
      <rect x={from + 0.5} y={2} width={Math.max(1, width - 1)} height={17} rx={3} />
      {text && (
        <text x={from + width / 2} y={11} text-anchor="middle" dominant-baseline="central">
          {text}
        </text>
      )}
    </g>
  );
}
