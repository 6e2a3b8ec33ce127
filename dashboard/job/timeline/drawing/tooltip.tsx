// A description of a bar, beside the pointer.
import { useLayoutEffect, useRef } from "preact/hooks";
import { duration, short, timecode } from "../../../core/format.ts";
import { type Bar, endOf, nameOf } from "../bars.ts";
import { LOOKS, lookOf, wordOf } from "./looks.ts";

type Props = {
  readonly bar: Bar;
  /** Position of the pointer in the window. */
  readonly x: number;
  readonly y: number;
  readonly zeroMs: number;
  readonly nowMs: number;
};

const DISTANCE = 14;

export function Tooltip({ bar, x, y, zeroMs, nowMs }: Props) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const { offsetWidth: width, offsetHeight: height } = element;
    const left = Math.max(8, Math.min(x + DISTANCE, globalThis.innerWidth - width - 8));
    const top = y + DISTANCE + height > globalThis.innerHeight ? y - DISTANCE - height : y + DISTANCE;
    element.style.setProperty("transform", `translate(${Math.round(left)}px, ${Math.round(Math.max(8, top))}px)`);
  }, [x, y, bar]);
  return (
    <div class="tl-tooltip" ref={box} aria-hidden="true">
      <p class="title">
        {title(bar)} <span class={`tl-word ${bar.state}`}>{wordOf(bar.state)}</span>
      </p>
      <p class="muted">
        {bar.node}
        {bar.attempt > 1 && ` · attempt ${bar.attempt}`}
        {bar.isSpeculative && " · second attempt of a slow chunk"}
      </p>
      <ul>
        <li>
          {timecode((bar.fromMs - zeroMs) / 1000)} – {bar.toMs === null ? "now" : timecode((bar.toMs - zeroMs) / 1000)}{" "}
          · {duration((endOf(bar, nowMs) - bar.fromMs) / 1000)}
        </li>
        {bar.parts.map((part) => (
          <li key={part.fromMs} class={`tl-part ${lookOf(bar, part)}`}>
            <i /> {LOOKS[lookOf(bar, part)]} {duration(((part.toMs ?? nowMs) - part.fromMs) / 1000)}
          </li>
        ))}
        {bar.fps !== undefined && bar.fps > 0 && (
          <li>
            {short(bar.fps)} fps · {short(bar.speed)}×
          </li>
        )}
      </ul>
      {bar.reason !== undefined && <p class="reason">{bar.reason}</p>}
    </div>
  );
}

/** The name of a bar. For a chunk, its time in the source follows. */
export function title(bar: Bar): string {
  const { chunk } = bar;
  if (!chunk) return nameOf(bar);
  return `${nameOf(bar)} · ${timecode(chunk.from_seconds, 0)}–${timecode(chunk.to_seconds, 0)}`;
}
