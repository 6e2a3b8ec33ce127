import { live, paused } from "../../core/account-events.ts";
import { useKeys } from "../../core/keyboard.ts";
import { Icon } from "../icon.tsx";

const STATES = {
  live: "Live",
  connecting: "Connecting …",
  lost: "Reconnecting …",
  off: "Live",
} as const satisfies Record<typeof live.value, string>;

/** Pauses and resumes the live updates of the page, and shows their state. */
export function LiveButton() {
  const toggle = (): void => {
    paused.value = !paused.value;
  };
  useKeys({ p: { help: "Pause or resume live updates", run: toggle } });
  const isPaused = paused.value;
  return (
    <button type="button" class={`live ${isPaused ? "paused" : live.value}`} aria-pressed={isPaused} onClick={toggle}>
      <Icon name={isPaused ? "play" : "pause"} />
      <span class="live-state">{isPaused ? "Paused" : STATES[live.value]}</span>
      <span class="visually-hidden">{isPaused ? ": resume live updates" : ": pause live updates"}</span>
    </button>
  );
}
