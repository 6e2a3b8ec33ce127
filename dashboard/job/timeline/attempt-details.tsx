// The attempt that is selected on the timeline: its facts, and the commands that its node ran.
import { shellCommand } from "../../../shared/shell-quote.ts";
import { duration, short, timecode } from "../../core/format.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
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
    <section class="tl-details" aria-label="Selected attempt">
      <header>
        <h3 aria-live="polite">
          {nameOf(bar)}, attempt {bar.attempt} on {bar.node}: {wordOf(bar.state)}
        </h3>
        <button type="button" class="quiet" aria-label="Close" onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      <dl class="facts">
        {bar.chunk && (
          <>
            <dt>Source</dt>
            <dd class="number">
              {timecode(bar.chunk.from_seconds)} – {timecode(bar.chunk.to_seconds)}
            </dd>
          </>
        )}
        <dt>Outputs</dt>
        <dd>{bar.outputs.join(", ") || "–"}</dd>
        <dt>Started</dt>
        <dd>
          <Time at={bar.fromMs} />
        </dd>
        <dt>{bar.toMs === null ? "Runs for" : "Took"}</dt>
        <dd class="number">
          {duration((endOf(bar, nowMs) - bar.fromMs) / 1000)}
          {bar.parts.length > 0 &&
            `: ${bar.parts.map((part) => `${LOOKS[lookOf(bar, part)]} ${duration(((part.toMs ?? nowMs) - part.fromMs) / 1000)}`).join(", ")}`}
        </dd>
        {bar.fps !== undefined && bar.fps > 0 && (
          <>
            <dt>Speed</dt>
            <dd class="number">
              {short(bar.fps)} fps, {short(bar.speed)} × real time
            </dd>
          </>
        )}
        {bar.reason !== undefined && (
          <>
            <dt>Why</dt>
            <dd>{bar.reason}</dd>
          </>
        )}
      </dl>
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
