// The attempts of the timeline as a table.
import { duration, percent, short, timecode } from "../../core/format.ts";
import { type Bar, endOf, nameOf } from "./bars.ts";
import { wordOf } from "./drawing/looks.ts";

type Props = { readonly bars: readonly Bar[]; readonly zeroMs: number; readonly nowMs: number };

export function TaskTable({ bars, zeroMs, nowMs }: Props) {
  return (
    <div class="table tl-table">
      <table>
        <caption class="visually-hidden">Attempts at tasks, by their start</caption>
        <thead>
          <tr>
            <th>Task</th>
            <th>Source</th>
            <th>Node</th>
            <th class="number">Attempt</th>
            <th>State</th>
            <th class="number">Start</th>
            <th class="number">Time</th>
            <th class="number">fps</th>
          </tr>
        </thead>
        <tbody>
          {bars.map((bar) => (
            <tr key={bar.key}>
              <td>
                {nameOf(bar)}
                {bar.isSpeculative && " (second attempt)"}
              </td>
              <td class="number">
                {bar.chunk ? `${timecode(bar.chunk.from_seconds, 0)}–${timecode(bar.chunk.to_seconds, 0)}` : "–"}
              </td>
              <td>{bar.node}</td>
              <td class="number">{bar.attempt}</td>
              <td title={bar.reason}>
                {wordOf(bar.state)}
                {bar.state === "running" && bar.progress > 0 && ` ${percent(bar.progress)}`}
              </td>
              <td class="number">{timecode((bar.fromMs - zeroMs) / 1000)}</td>
              <td class="number">{duration((endOf(bar, nowMs) - bar.fromMs) / 1000)}</td>
              <td class="number">{bar.fps === undefined ? "–" : short(bar.fps)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
