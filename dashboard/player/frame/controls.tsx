// The buttons of the player. Each button has a key, which its title names.
import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { timecode } from "../../core/format.ts";
import { Select } from "../../parts/controls/select.tsx";
import { Icon } from "../../parts/icon.tsx";
import { SeekBar } from "./seek-bar.tsx";
import { type SideBySide, SPEEDS } from "./side-by-side.ts";

type Props = { readonly players: SideBySide; readonly divider: Signal<number>; readonly full: () => void };

const toggle = (signal: Signal<boolean>): void => {
  signal.value = !signal.value;
};

export function Controls({ players, divider, full }: Props) {
  const { wantsToPlay, muted } = players;
  return (
    <section class="controls" aria-label="Player">
      <SeekBar players={players} />
      <div class="bar">
        <Press label={wantsToPlay.value ? "Pause" : "Play"} hint="Space" run={players.toggle}>
          <Icon name={wantsToPlay.value ? "pause" : "play"} />
        </Press>
        <Press label="Previous frame" hint="," run={() => players.step(-1)}>
          <Icon name="previousFrame" />
        </Press>
        <Press label="Next frame" hint="." run={() => players.step(1)}>
          <Icon name="nextFrame" />
        </Press>
        <Clock players={players} />
        <span class="gap" />
        <Choices players={players} />
        <Press label={muted.value ? "Unmute" : "Mute"} hint="m" pressed={muted.value} run={() => toggle(muted)}>
          <Icon name={muted.value ? "muted" : "audible"} />
        </Press>
        <Press label="Full screen" hint="f" run={full}>
          <Icon name="fullScreen" />
        </Press>
      </div>
      {players.follower && <CompareBar players={players} divider={divider} />}
    </section>
  );
}

/** A component of its own, because it changes with each frame. */
function Clock({ players: { leader } }: { readonly players: SideBySide }) {
  return (
    <span class="time">
      {timecode(leader.frame.value ?? leader.time.value, 3)}
      <span class="of"> / {timecode(leader.length.value)}</span>
    </span>
  );
}

/** Controls that only a comparison has. */
function CompareBar({ players, divider }: Omit<Props, "full">) {
  const { front, shiftFrames, view } = players;
  const onInput = ({ currentTarget }: Event): void => {
    if (!(currentTarget instanceof HTMLInputElement)) return;
    front.value = "both";
    divider.value = Number(currentTarget.value);
  };
  const layer = { both: "Both", first: "A", last: "B" }[front.value];
  return (
    <div class="bar compare">
      <Press label={`A/B: ${layer}, swap them`} hint="t" run={players.swap}>
        A/B: {layer}
      </Press>
      <Press label="Show both" hint="b" pressed={front.value === "both"} run={players.showBoth}>
        Both
      </Press>
      <input
        type="range"
        class="split"
        aria-label="Divider between A and B"
        min={0}
        max={100}
        step={0.5}
        value={divider.value}
        onInput={onInput}
      />
      <Press label="Zoom out" hint="-" run={() => players.zoom(-1)}>
        −
      </Press>
      <span class="scale">{view.value.scale}×</span>
      <Press label="Zoom in" hint="+" run={() => players.zoom(1)}>
        +
      </Press>
      <Press label="A −1: shift A back by a frame" hint="[" run={() => players.shiftBy(-1)}>
        A −1
      </Press>
      <span class="scale" title="Frames by which A is shifted">
        {shiftFrames.value}
      </span>
      <Press label="A +1: shift A forward by a frame" hint="]" run={() => players.shiftBy(1)}>
        A +1
      </Press>
    </div>
  );
}

function Choices({ players: { leader, rate } }: { readonly players: SideBySide }) {
  const { qualities, quality, captions } = leader;
  const automatic = qualities.value[quality.value];
  return (
    <>
      {qualities.value.length > 1 && (
        <Select
          label="Quality"
          options={byIndex([automatic ? `Auto (${automatic})` : "Auto", ...qualities.value])}
          choose={(index) => leader.chooseQuality(Number(index) - 1)}
        />
      )}
      {captions.value.length > 0 && (
        <Select
          label="Captions"
          options={byIndex(["No captions", ...captions.value])}
          choose={(index) => leader.chooseCaptions(Number(index) - 1)}
        />
      )}
      <Select
        label="Speed"
        options={byIndex(SPEEDS.map((speed) => `${speed}×`))}
        value={String(SPEEDS.indexOf(rate.value))}
        choose={(index) => {
          rate.value = SPEEDS[Number(index)] ?? 1;
        }}
      />
    </>
  );
}

const byIndex = (texts: readonly string[]): Record<string, string> => Object.fromEntries(texts.entries());

type PressProps = {
  readonly label: string;
  readonly hint: string;
  readonly pressed?: boolean;
  readonly run: () => void;
  readonly children: ComponentChildren;
};

function Press({ label, hint, pressed, run, children }: PressProps) {
  return (
    <button type="button" aria-label={label} title={`${label} (${hint})`} aria-pressed={pressed} onClick={run}>
      {children}
    </button>
  );
}
