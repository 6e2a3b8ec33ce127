// The timeline of a job: the nodes with their work, and the chunks of the video.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Command, Job } from "../../../client/index.ts";
import { plural, timecode, timeOf } from "../../core/format.ts";
import { serviceNow } from "../../core/service.ts";
import { Card } from "../../parts/card.tsx";
import { Button } from "../../parts/controls/button.tsx";
import { useWidth } from "../../parts/use-width.ts";
import type { TaskBook } from "../live/task-book.ts";
import { AttemptDetails, titleOf } from "./attempt-details.tsx";
import { type Bar, barsOf, runsOf } from "./bars.ts";
import { Chart } from "./chart.tsx";
import { type ChunkMap, chunkMap } from "./chunk-map.ts";
import { ChunkStrip } from "./chunk-strip.tsx";
import { type Period, recentPeriod, rowsOf, steadyPeriod, wholePeriod } from "./layout.ts";
import { Legend } from "./legend.tsx";
import { phasesOf } from "./phases.ts";
import { TaskTable } from "./task-table.tsx";
import "./timeline.css";

/** Narrower timelines have the names of nodes above their rows. In pixels. */
const NARROW = 560;
/** Width of the names beside the rows, in pixels. */
const NAMES = 128;

type Props = {
  readonly job: Job;
  readonly book: TaskBook;
  readonly commands: readonly Command[];
  /** The probable end of the job, in ms; null: unknown. */
  readonly endsMs: number | null;
  /** Seconds of a stream that players can already play; null: no such stream. */
  readonly playableSeconds: number | null;
};

export function Timeline({ job, book, commands, endsMs, playableSeconds }: Props) {
  const isLive = job.completed_at === null;
  const { ref: box, width } = useWidth();
  const [showsEarlier, showEarlier] = useState(false);
  const [showsRecent, showRecent] = useState(false);
  const [selectedKey, select] = useState<string | null>(null);
  const [hoveredKey, hover] = useState<string | null>(null);
  const [showsTable, showTable] = useState(false);

  const runs = useMemo(() => runsOf(commands), [commands]);
  const all = useMemo(() => barsOf(book, runs), [book, runs]);
  const bars = useMemo(() => (showsEarlier ? all : all.filter(({ isEarlier }) => !isEarlier)), [all, showsEarlier]);
  const rows = useMemo(() => rowsOf(bars), [bars]);
  const map = useMemo(() => chunkMap(book.tasks.values()), [book]);
  const nowMs = useServiceNow(isLive, book);

  const createdMs = timeOf(job.created_at);
  const needed = wholePeriod(bars, { createdMs, nowMs, endsMs, isOver: !isLive });
  const before = useRef<Period | null>(null);
  before.current = isLive ? steadyPeriod(before.current, needed) : needed;
  const whole = before.current;
  const recent = recentPeriod(whole, nowMs);
  const zeroMs = whole.fromMs;
  const names = width < NARROW ? 0 : NAMES;
  const scale = { ...(showsRecent && recent ? recent : whole), width: Math.max(1, width - names) };
  const [selected, hovered] = [selectedKey, hoveredKey].map((sought) => bars.find(({ key }) => key === sought));
  const summary = summaryOf(bars, map);
  const actions = (
    <>
      <p class="muted">{summary}</p>
      {all.length > bars.length && (
        <Button text="Show earlier attempts" class="quiet" onClick={() => showEarlier(true)} />
      )}
      {recent && (
        <Button
          text="Last 10 minutes"
          class="filter-chip"
          aria-pressed={showsRecent}
          onClick={() => showRecent(!showsRecent)}
        />
      )}
      <Button
        text={showsTable ? "Hide the table" : "Table"}
        class="quiet"
        aria-expanded={showsTable}
        onClick={() => showTable(!showsTable)}
      />
    </>
  );
  return (
    <Card title="Timeline" class="tl" actions={actions}>
      <div class={names === 0 ? "tl-box narrow" : "tl-box"} ref={box} style={{ "--names": `${names}px` }}>
        {width > 0 && map && (
          <ChunkStrip
            map={map}
            playableSeconds={playableSeconds}
            width={scale.width}
            selected={selected?.chunk?.number}
            hovered={hovered?.chunk?.number}
          />
        )}
        {width > 0 && bars.length > 0 && (
          <Chart
            bars={bars}
            rows={rows}
            scale={scale}
            zeroMs={zeroMs}
            nowMs={nowMs}
            isLive={isLive}
            selected={selected}
            select={select}
            hovered={hovered}
            hover={hover}
            phases={phasesOf(bars, createdMs, nowMs)}
            titleOf={(bar) => titleOf(bar, zeroMs, nowMs)}
            summary={`Timeline: ${summary}. Arrow keys go from attempt to attempt.`}
          />
        )}
      </div>
      {selected && <AttemptDetails bar={selected} runs={runs} nowMs={nowMs} close={() => select(null)} />}
      <footer>
        <Legend bars={bars} />
      </footer>
      {showsTable && <TaskTable bars={bars} zeroMs={zeroMs} nowMs={nowMs} />}
    </Card>
  );
}

/** A description of the timeline, in a line. */
function summaryOf(bars: readonly Bar[], map: ChunkMap | null): string {
  const count = (state: Bar["state"]): number => bars.filter((bar) => bar.state === state).length;
  const nodes = new Set(bars.map(({ node }) => node)).size;
  const running = count("running");
  const lost = count("lost");
  const failed = count("failed");
  const isPartial = map && map.completed > 0 && map.completed < map.cells.length;
  return [
    plural(nodes, "node"),
    ...(map ? [`${map.completed} of ${plural(map.cells.length, "chunk")} done`] : []),
    ...(running > 0 ? [`${plural(running, "task")} running`] : []),
    ...(lost > 0 ? [`${plural(lost, "attempt")} lost`] : []),
    ...(failed > 0 ? [`${plural(failed, "attempt")} failed`] : []),
    ...(isPartial && map.completeToSeconds > 0 ? [`complete up to ${timecode(map.completeToSeconds, 0)}`] : []),
  ].join(" · ");
}

const FRAME_MS = 100;
const prefersStill = globalThis.matchMedia?.("(prefers-reduced-motion: reduce)");

/**
 * The service's present time in ms, ten times a second while `isRunning` and the tab is visible. For people who prefer
 * reduced motion, it changes only with `facts`.
 */
function useServiceNow(isRunning: boolean, facts: unknown): number {
  const [, setFrame] = useState(0);
  useEffect(() => {
    if (!isRunning || prefersStill?.matches) return;
    const timer = setInterval(() => {
      if (!document.hidden) setFrame((frame) => frame + 1);
    }, FRAME_MS);
    return () => clearInterval(timer);
  }, [isRunning]);
  const frozen = useRef<{ facts: unknown; atMs: number }>(null);
  if (isRunning && !prefersStill?.matches) return serviceNow();
  if (frozen.current?.facts !== facts || frozen.current === null) frozen.current = { facts, atMs: serviceNow() };
  return frozen.current.atMs;
}
