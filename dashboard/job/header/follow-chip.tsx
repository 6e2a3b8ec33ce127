// How current the page is.
import { paused } from "../../core/account-events.ts";
import { useKeys } from "../../core/keyboard.ts";
import { Icon } from "../../parts/icon.tsx";
import type { FollowState } from "../live/live-job.ts";

const WORDS: Readonly<Record<FollowState, string>> = {
  connecting: "Connecting …",
  live: "Live",
  polling: "Every 5 s",
  lost: "Connection lost, trying again …",
  off: "Paused",
  ended: "",
};

const TITLES: Partial<Record<FollowState, string>> = {
  polling: "Too many people follow this job for a stream. It is read every 5 s instead.",
};

export function FollowChip({ state }: { readonly state: FollowState }) {
  const toggle = (): void => {
    paused.value = !paused.peek();
  };
  useKeys({ l: { help: "Pause or resume live updates", run: toggle, when: () => state !== "ended" } }, "Job");
  if (state === "ended") return null;
  return (
    <span class="row follow">
      <span class={`chip follow-${state}`} role="status" title={TITLES[state]}>
        <span aria-hidden="true">●</span> {WORDS[state]}
      </span>
      <button type="button" class="quiet" aria-pressed={paused.value} onClick={toggle}>
        <Icon name={paused.value ? "play" : "pause"} /> {paused.value ? "Resume" : "Pause"}
      </button>
    </span>
  );
}
