// The timeline of a job: the nodes with their work, and the chunks of the video.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Command, Job } from "../../../client/index.ts";
import { plural, timecode, timeOf } from "../../core/format.ts";
import { useKeys } from "../../core/keyboard.ts";
import { Card } from "../../parts/card.tsx";
import { Button } from "../../parts/controls/button.tsx";
import { useWidth } from "../../parts/use-width.ts";
import type { TaskBook } from "../live/task-book.ts";
import { AttemptDetails } from "./attempt-details.tsx";
import { type Bar, barsOf, runsOf } from "./bars.ts";
import { Chart } from "./chart.tsx";
import { type ChunkMap, chunkMap } from "./chunk-map.ts";
import { ChunkStrip } from "./drawing/chunk-strip.tsx";
import { geometryOf } from "./drawing/geometry.ts";
import { layOut, type Period, steadyPeriod, wholePeriod } from "./layout.ts";
import { Legend } from "./legend.tsx";
import { phasesOf } from "./phases.ts";
import { TaskTable } from "./task-table.tsx";
import { useZoom, ZOOM_IN, ZOOM_OUT } from "./zoom.ts";
import "./timeline.css";

type Props = {
  readonly job: Job;
  readonly book: TaskBook;
  readonly commands: readonly Command[];
  /** The service's present time, in ms. */
  readonly now: () => number;
  /** The probable end of the job, in ms; null: unknown. */
  readonly endsMs: number | null;
  /** Seconds of a stream that players can already play; null: no such stream. */
  readonly playableSeconds: number | null;
};

export function Timeline({ job, book, commands, now, endsMs, playableSeconds }: Props) {
  const isLive = job.completed_at === null;
  const { ref: box, width } = useWidth();
  const [showsEarlier, showEarlier] = useState(false);
  const [selectedKey, select] = useState<string | null>(null);
  const [hoveredKey, hover] = useState<string | null>(null);
  const [showsTable, showTable] = useState(false);

  const runs = useMemo(() => runsOf(commands), [commands]);
  const all = useMemo(() => barsOf(book, runs), [book, runs]);
  const bars = useMemo(() => (showsEarlier ? all : all.filter(({ isEarlier }) => !isEarlier)), [all, showsEarlier]);
  const layout = useMemo(() => layOut(bars), [bars]);
  const map = useMemo(() => chunkMap(book.tasks.values()), [book]);
  const nowMs = useNow(now, isLive, book);

  const createdMs = timeOf(job.created_at);
  const needed = wholePeriod(bars, { createdMs, nowMs, endsMs, isOver: !isLive });
  const before = useRef<Period | null>(null);
  before.current = isLive ? steadyPeriod(before.current, needed) : needed;
  const whole = before.current;
  const zoom = useZoom(whole);
  useKeys(
    {
      "+": { help: "Zoom in", run: () => zoom.by(ZOOM_IN) },
      "-": { help: "Zoom out", run: () => zoom.by(ZOOM_OUT) },
      "0": { help: "Show the whole job", run: zoom.reset },
    },
    "Timeline",
  );
  const phases = useMemo(
    () => phasesOf(bars, createdMs, Math.round(nowMs / 500) * 500),
    [bars, createdMs, Math.round(nowMs / 500)],
  );
  if (all.length === 0 && !isLive) return null;
  const zeroMs = whole.fromMs;
  const find = (key: string | null): Bar | undefined =>
    key === null ? undefined : bars.find((bar) => bar.key === key);
  const [selected, hovered] = [find(selectedKey), find(hoveredKey)];
  const summary = summaryOf(bars, map);
  const actions = (
    <>
      <p class="muted">{summary}</p>
      {all.length > bars.length && (
        <Button text="Show earlier attempts" class="quiet" onClick={() => showEarlier(true)} />
      )}
      <Button
        text={showsTable ? "Hide the table" : "Table"}
        class="quiet"
        aria-expanded={showsTable}
        onClick={() => showTable(!showsTable)}
      />
      {zoom.isZoomed && <Button text="Show the whole job" onClick={zoom.reset} />}
    </>
  );
  return (
    <Card title="Timeline" class="tl" actions={actions}>
      <div class="tl-box" ref={box}>
        {width > 0 && map && (
          <ChunkStrip
            map={map}
            width={width}
            left={geometryOf(layout, width).names}
            playableSeconds={playableSeconds}
            selected={selected?.chunk?.number}
            hovered={hovered?.chunk?.number}
          />
        )}
        {width > 0 && bars.length > 0 && (
          <Chart
            {...{ layout, width, zoom, phases, zeroMs, nowMs, isLive, selected, select, hovered, hover }}
            summary={`Timeline: ${summary}. Arrow keys go from attempt to attempt.`}
          />
        )}
        {bars.length === 0 && <p class="tl-empty muted">{waitText(job)}</p>}
      </div>
      {selected && <AttemptDetails bar={selected} runs={runs} nowMs={nowMs} close={() => select(null)} />}
      <footer>
        <Legend bars={bars} />
      </footer>
      {showsTable && <TaskTable bars={bars} zeroMs={zeroMs} nowMs={nowMs} />}
    </Card>
  );
}

const waitText = ({ waiting_for }: Job): string =>
  waiting_for === undefined ? "Waiting for a node …" : `Waiting for ${waiting_for} …`;

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
 * The service's present time (`now`) in ms, ten times a second while `isRunning` and the tab is visible. For people who
 * prefer reduced motion, it changes only with `facts`.
 */
function useNow(now: () => number, isRunning: boolean, facts: unknown): number {
  const [, setFrame] = useState(0);
  useEffect(() => {
    if (!isRunning || prefersStill?.matches) return;
    const timer = setInterval(() => {
      if (!document.hidden) setFrame((frame) => frame + 1);
    }, FRAME_MS);
    return () => clearInterval(timer);
  }, [isRunning]);
  const frozen = useRef<{ facts: unknown; atMs: number }>(null);
  if (isRunning && !prefersStill?.matches) return now();
  if (frozen.current?.facts !== facts || frozen.current === null) frozen.current = { facts, atMs: now() };
  return frozen.current.atMs;
}
