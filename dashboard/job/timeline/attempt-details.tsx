// The attempt that is selected on the timeline: its facts, and the commands that its node ran.
import { shellCommand } from "../../../shared/shell-quote.ts";
import { duration, short, timecode } from "../../core/format.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { type Fact, Facts } from "../../parts/facts.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Time } from "../../parts/time.tsx";
import { type Bar, endOf, nameOf, type Runs } from "./bars.ts";
import { LOOKS, lookOf, wordOf } from "./looks.ts";

type Props = { readonly bar: Bar; readonly runs: Runs; readonly nowMs: number; readonly close: () => void };

export function AttemptDetails({ bar, runs, nowMs, close }: Props) {
  const commands = runs.get(bar.key) ?? [];
  return (
    <section class="stack tight section tl-details" aria-label="Selected attempt">
      <header>
        <h3 aria-live="polite">
          {nameOf(bar)}, attempt {bar.attempt} on {bar.node}: {wordOf(bar.state)}
        </h3>
        <button type="button" class="quiet" aria-label="Close" onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      <Facts facts={factsOf(bar, nowMs)} />
      {commands.map((command) => (
        <CodeBlock
          key={command.started_at}
          label={`ffmpeg · ${duration(command.seconds)}`}
          text={shellCommand(command.argv)}
          wrap
        />
      ))}
    </section>
  );
}

function factsOf(bar: Bar, nowMs: number): readonly Fact[] {
  const { chunk } = bar;
  return [
    ["Source", chunk && `${timecode(chunk.from_seconds)} – ${timecode(chunk.to_seconds)}`],
    ["Outputs", bar.outputs.join(", ") || "–"],
    ["Started", <Time key="started" at={bar.fromMs} />],
    [bar.toMs === null ? "Runs for" : "Took", timeText(bar, nowMs)],
    ["Speed", speedText(bar)],
    ["Why", bar.reason],
  ];
}

/** The length of an attempt, and of its parts. */
function timeText(bar: Bar, nowMs: number): string {
  const parts = bar.parts.map(
    (part) => `${LOOKS[lookOf(bar, part)]} ${duration(((part.toMs ?? nowMs) - part.fromMs) / 1000)}`,
  );
  const whole = duration((endOf(bar, nowMs) - bar.fromMs) / 1000);
  return parts.length > 0 ? `${whole}: ${parts.join(", ")}` : whole;
}

const speedText = ({ fps = 0, speed }: Bar): string | undefined =>
  fps > 0 ? `${short(fps)} fps, ${short(speed)} × real time` : undefined;

/** The description of an attempt beside the pointer. */
export function titleOf(bar: Bar, zeroMs: number, nowMs: number): string {
  const { chunk, fromMs, toMs } = bar;
  const source = chunk ? ` · ${timecode(chunk.from_seconds, 0)}–${timecode(chunk.to_seconds, 0)}` : "";
  const end = toMs === null ? "now" : timecode((toMs - zeroMs) / 1000);
  return [
    `${nameOf(bar)}${source}: ${wordOf(bar.state)}`,
    `${bar.node}, attempt ${bar.attempt}${bar.isSpeculative ? ", second attempt of a slow chunk" : ""}`,
    `${timecode((fromMs - zeroMs) / 1000)} – ${end}`,
    timeText(bar, nowMs),
    ...[speedText(bar), bar.reason].filter((text) => text !== undefined),
  ].join("\n");
}
