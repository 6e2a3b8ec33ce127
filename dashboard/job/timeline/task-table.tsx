// The attempts of the timeline as a table.
import { duration, percent, short, timecode } from "../../core/format.ts";
import { type Column, Table } from "../../parts/table.tsx";
import { type Bar, endOf, nameOf } from "./bars.ts";
import { wordOf } from "./looks.ts";

type Props = { readonly bars: readonly Bar[]; readonly zeroMs: number; readonly nowMs: number };

export function TaskTable({ bars, zeroMs, nowMs }: Props) {
  const columns: readonly Column<Bar>[] = [
    ["Task", (bar) => `${nameOf(bar)}${bar.isSpeculative ? " (second attempt)" : ""}`],
    [
      "Source",
      ({ chunk }) => (chunk ? `${timecode(chunk.from_seconds, 0)}–${timecode(chunk.to_seconds, 0)}` : "–"),
      "number",
    ],
    ["Node", ({ node }) => node],
    ["Attempt", ({ attempt }) => attempt, "number"],
    ["State", (bar) => <span title={bar.reason}>{stateText(bar)}</span>],
    ["Start", ({ fromMs }) => timecode((fromMs - zeroMs) / 1000), "number"],
    ["Time", (bar) => duration((endOf(bar, nowMs) - bar.fromMs) / 1000), "number"],
    ["fps", ({ fps }) => short(fps), "number"],
  ];
  return (
    <Table
      label="Attempts at tasks, by their start"
      class="tl-table"
      columns={columns}
      rows={bars}
      keyOf={({ key }) => key}
    />
  );
}

const stateText = ({ state, progress }: Bar): string =>
  state === "running" && progress > 0 ? `${wordOf(state)} ${percent(progress)}` : wordOf(state);
