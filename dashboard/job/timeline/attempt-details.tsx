// The attempt that is selected on the timeline: its facts, and the commands that its node ran.
import { shellCommand } from "../../../shared/shell-quote.ts";
import { duration, short, timecode } from "../../core/format.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { type Fact, Facts } from "../../parts/facts.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Time } from "../../parts/time.tsx";
import { type Bar, endOf, nameOf, type Runs } from "./bars.ts";
import { LOOKS, lookOf, wordOf } from "./drawing/looks.ts";

type Props = {
  readonly bar: Bar;
  readonly runs: Runs;
  readonly nowMs: number;
  readonly close: () => void;
};

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
  const parts = bar.parts.map(
    (part) => `${LOOKS[lookOf(bar, part)]} ${duration(((part.toMs ?? nowMs) - part.fromMs) / 1000)}`,
  );
  const { chunk, fps = 0 } = bar;
  return [
    ["Source", chunk && `${timecode(chunk.from_seconds)} – ${timecode(chunk.to_seconds)}`],
    ["Outputs", bar.outputs.join(", ") || "–"],
    ["Started", <Time key="started" at={bar.fromMs} />],
    [
      bar.toMs === null ? "Runs for" : "Took",
      [duration((endOf(bar, nowMs) - bar.fromMs) / 1000), ...(parts.length > 0 ? [parts.join(", ")] : [])].join(": "),
    ],
    ["Speed", fps > 0 && `${short(fps)} fps, ${short(bar.speed)} × real time`],
    ["Why", bar.reason],
  ];
}
